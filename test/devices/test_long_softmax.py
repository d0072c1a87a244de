"""Logarithms of softmaxes over a vocabulary on a GPU, which are found block by block, against eager and float64."""

import pytest
import torch
from torch.nn import functional

import dovetail

ROWS = 16


def _loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(logits, targets, reduction="none")


@pytest.mark.parametrize("words", [6400, 32000, 32768, 128256, 30522])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_numbers(words: int, scale: float):
    """Catches sums of blocks that are scaled by another block's largest number."""
    torch.manual_seed(0)
    logits, targets = torch.randn(ROWS, words) * scale, torch.arange(ROWS) * 7
    exact, eager = _loss(logits.double(), targets), _loss(logits, targets)
    ours = torch.compile(_loss, backend="dovetail")(logits, targets)
    assert (ours - exact).norm() <= 3 * (eager - exact).norm() + torch.finfo(torch.float32).eps * exact.norm()


def test_gradients():
    """Catches probabilities that are of another sum than the loss."""
    torch.manual_seed(0)
    hidden, words, targets = torch.randn(ROWS, 8), torch.randn(32000, 8), torch.arange(ROWS)

    def gradients(compute, dtype: torch.dtype) -> list[torch.Tensor]:
        leaves = [each.to(dtype).requires_grad_() for each in (hidden, words)]
        loss = compute(*leaves)
        return [loss.detach(), *torch.autograd.grad(loss.sum(), leaves)]

    def compute(hidden: torch.Tensor, words: torch.Tensor) -> torch.Tensor:
        return _loss(hidden @ words.t(), targets)

    exact, eager = gradients(compute, torch.float64), gradients(compute, torch.float32)
    ours = gradients(torch.compile(compute, backend="dovetail"), torch.float32)
    for got, theirs, true in zip(ours, eager, exact, strict=True):
        assert (got - true).norm() <= 3 * (theirs - true).norm() + torch.finfo(torch.float32).eps * true.norm()


def test_what_is_infinite():
    """Catches NaN where a block is -inf alone, as what a mask leaves out, and a number where a row is, or has NaN."""
    torch.manual_seed(0)
    logits, targets = torch.randn(ROWS, 32000) - 200, torch.arange(ROWS)
    logits[0, 1000:] = -torch.inf
    logits[1, :] = -torch.inf
    logits[2, 500] = torch.inf
    logits[3, 31999] = torch.nan
    logits[4, 1:] = -torch.inf
    logits[5, 5] = 3e38
    logits[6, :] = -3e38
    logits[7, 640:1280] = -torch.inf
    dovetail.stats(reset=True)
    ours = torch.compile(_loss, backend="dovetail")(logits, targets)
    torch.testing.assert_close(ours, _loss(logits, targets), equal_nan=True)
    assert not dovetail.stats().eager


@pytest.mark.parametrize("compute", [functional.log_softmax, functional.softmax])
def test_whole_rows(compute):
    """Catches rows taken apart of which others take the exponentials, too."""
    torch.manual_seed(0)
    logits = torch.randn(ROWS, 32000)
    torch.testing.assert_close(torch.compile(compute, backend="dovetail")(logits, -1), compute(logits, -1))
