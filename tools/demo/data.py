"""Real data that comes with Python and scikit-learn: English text as bytes, and handwritten digits."""

from functools import cache
from pydoc_data.topics import topics

import torch

# Byte-level tokens: no tokenizer, no vocabulary file.
VOCABULARY = 256


@cache
def text() -> torch.Tensor:
    """The text of Python's language reference (`pydoc_data.topics`), int64[characters], values in [0, 256)."""
    joined = "\n".join(topics[name] for name in sorted(topics))
    return torch.tensor(list(joined.encode("utf-8")))


@cache
def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """scikit-learn's digits: images float32[1797, 1, 8, 8] in [0, 1] and labels int64[1797] in [0, 10)."""
    from sklearn.datasets import load_digits  # a second or two, for one task's data

    bunch = load_digits()
    images = torch.tensor(bunch.images, dtype=torch.float32).unsqueeze(1) / 16
    return images, torch.tensor(bunch.target)


def text_windows(step: int, batch: int, length: int) -> torch.Tensor:
    """Windows of the text for one training step, int64[batch, length]; the same for the same `step`."""
    tokens = text()
    starts = torch.randint(len(tokens) - length, (batch,), generator=torch.Generator().manual_seed(step))
    return torch.stack([tokens[start : start + length] for start in starts.tolist()])


def next_token_batch(step: int, batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens and the tokens that follow them, int64[batch, length] each."""
    windows = text_windows(step, batch, length + 1)
    return windows[:, :-1].contiguous(), windows[:, 1:].contiguous()


def masked_token_batch(step: int, batch: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Tokens of which about 15 % are replaced by byte 0, and targets that are -100 everywhere else.

    Both int64[batch, length]; -100 is what `torch.nn.functional.cross_entropy` ignores.
    """
    windows = text_windows(step, batch, length)
    hidden = torch.rand(windows.shape, generator=torch.Generator().manual_seed(step)) < 0.15
    return windows.masked_fill(hidden, 0), windows.masked_fill(~hidden, -100)


def digits_batch(step: int, batch: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Images float32[batch, 1, 8, 8] and labels int64[batch]; the same for the same `step`."""
    images, labels = digits()
    chosen = torch.randperm(len(images), generator=torch.Generator().manual_seed(step))[:batch]
    return images[chosen], labels[chosen]
