"""The stream of a GPU on which a backward runs, where autograd knows none: it goes by where gradients lie."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

current_stream = torch.accelerator.current_stream


@contextmanager
def on(stream: torch.Stream) -> Iterator[None]:
    """Runs what is inside on `stream`, for which the current one waits then."""
    current = current_stream(stream.device)
    if current == stream:
        yield
        return
    try:
        with stream:
            yield
    finally:
        current.wait_stream(stream)
