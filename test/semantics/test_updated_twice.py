"""Values that a region updates in two ways, each of which must see the value as it was before the other."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from differential import assert_same


def concatenated(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    first, second, zeros = x.sum(1), (x * y).sum(1), x.new_zeros(8)
    return torch.cat([zeros, second]) * torch.cat([zeros, first]).exp()


def one_by_one(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Sums of which the first ones are computed before the last, and put to use after it."""
    sums, zeros = [(x * y[row]).sum(1) for row in range(4)], x.new_zeros(3)
    return torch.stack([torch.cat([zeros, each, zeros]) for each in reversed(sums)]).cumsum(0)


def into_sums(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    sums, first, second = (x * y).sum(0), x.sum(1), (x - y).amax(1)
    return sums.slice_scatter(second[:4], 0, 2, 6) - 1, sums.slice_scatter(first[:4], 0, 2, 6) * 2


def padded(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    first, second = x.sum(1), (x * y).sum(1)
    return F.pad(second, (5, 3)) - 1, F.pad(first, (5, 3)) * 2


def shifted(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Of two elements; the backward adds up two gradients that begin with the same zero."""
    moved = x.narrow(0, 0, x.shape[0] - 1).copy_(x.narrow(0, 1, x.shape[0] - 1).clone())
    return moved, moved.amax(0, keepdim=True)


@pytest.mark.parametrize("function", [concatenated, one_by_one, into_sums, padded])
def test_updates_of_one_value_are_apart(function: Callable[..., Any]):
    """Would catch IREE's own order of passes: the kernel that stands first writes into what the second one updates.

    The two concatenations begin with the same zeros, of which IREE makes one value.
    """
    assert_same(function, torch.randn(8, 8), torch.randn(8, 8))


@pytest.mark.parametrize("function", [concatenated, one_by_one])
@pytest.mark.host
def test_updates_are_apart_in_modules(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch):
    """Would catch what runs without a plan, compiled by IREE's own order of passes."""
    monkeypatch.setenv("DOVETAIL_LAUNCH", "iree.runtime")
    assert_same(function, torch.randn(8, 8), torch.randn(8, 8), train=False)


def test_gradients_that_begin_alike():
    """Would catch the same where an input is shifted in place: the gradient was 0 on GPUs."""
    assert_same(shifted, torch.randn(2, requires_grad=True), prepare=lambda x: (x * 1,))
