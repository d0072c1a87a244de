"""Logarithms of softmaxes over a vocabulary on a GPU, which are found block by block, against eager and float64."""

import pytest
import torch
from torch.nn import functional

import dovetail

ROWS = 16


def _loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(logits, targets, reduction="none")


def _gradients(compute, logits: torch.Tensor, targets: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    leaf = logits.detach().clone().requires_grad_()
    loss = compute(leaf, targets)
    return loss.detach(), torch.autograd.grad(loss.sum(), leaf)[0]


@pytest.mark.parametrize("words", [32000, 32768, 128256, 30522])
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_numbers(words: int, scale: float):
    """Catches sums of blocks that are scaled by another block's largest number."""
    torch.manual_seed(0)
    logits, targets = torch.randn(ROWS, words) * scale, torch.arange(ROWS) * 7
    exact, eager = (_gradients(_loss, logits.to(dtype), targets) for dtype in (torch.float64, torch.float32))
    ours = _gradients(torch.compile(_loss, backend="dovetail"), logits, targets)
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
    eager = _gradients(_loss, logits, targets)
    dovetail.stats(reset=True)
    ours = _gradients(torch.compile(_loss, backend="dovetail"), logits, targets)
    for got, theirs in zip(ours, eager, strict=True):
        torch.testing.assert_close(got, theirs, equal_nan=True)
    assert not dovetail.stats().eager
