"""Windows that end before their dimension does, and are the only one along it."""

import pytest
import torch
from differential import assert_same


def _sums(x: torch.Tensor, size: int, step: int) -> tuple[torch.Tensor, ...]:
    windows = x.unfold(0, size, step)
    return windows.sum(-1), (x * 2).unfold(0, size, step).exp().amax(-1), windows - 1


@pytest.mark.parametrize(("length", "size", "step"), [(4, 3, 2), (6, 3, 4)])
def test_what_is_beyond_a_window_is_not_read(length: int, size: int, step: int):
    """Would catch IREE's loop over all of the dimension, for a window that is alone: its sum had the rest in it."""
    assert_same(lambda x: _sums(x, size, step), torch.rand(length, 5))


def test_a_lone_window_of_open_length():
    """Would catch a window taken for all there is, since how much that is was not known."""
    compiled = torch.compile(lambda x: x.unfold(0, x.shape[0] - 1, 2).sum(-1), backend="dovetail", dynamic=True)
    for length in (5, 8):
        x = torch.rand(length, 3)
        torch.testing.assert_close(compiled(x), x[:-1].sum(0, keepdim=True))
