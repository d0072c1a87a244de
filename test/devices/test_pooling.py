"""Maxima over windows of images that lie channels last, which regions of a GPU find."""

import copy
import math
from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.nn import functional

import dovetail

WAYS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "overlapping": lambda x: functional.max_pool2d(x, 3, 2, 1),
    "apart": lambda x: functional.max_pool2d(x, 2),
    "with gaps": lambda x: functional.max_pool2d(x, 2, 4),
    "dense": lambda x: functional.max_pool2d(x, 3, 1, 1),
    "oblong": lambda x: functional.max_pool2d(x, (1, 5), (4, 2), (0, 2)),
    "beyond the border": lambda x: functional.max_pool2d(x, 3, 2, 1, ceil_mode=True),
    "of one row": lambda x: functional.max_pool2d(x, (3, 2), (2, 1), (1, 1), ceil_mode=True),
}
LEFT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "dilated": lambda x: functional.max_pool2d(x, 2, 2, 0, dilation=2),
    "three apart": lambda x: functional.max_pool2d(x, 3),
    "of many places": lambda x: functional.max_pool2d(x, 5, 2, 2),
    "observed": lambda x: _with_pixels(*functional.max_pool2d(x, 2, return_indices=True)),
}


def _with_pixels(found: torch.Tensor, pixels: torch.Tensor) -> torch.Tensor:
    return found + pixels % 7


class _Net(nn.Module):
    """Convolutions that give what they take, so that nothing hangs on how they add up."""

    def __init__(self, pool: Callable[[torch.Tensor], torch.Tensor], is_cut: bool) -> None:
        super().__init__()
        self.pool, self.is_cut = pool, is_cut
        self.before, self.after = (nn.Conv2d(16, 16, 3, padding=1, bias=False) for _ in range(2))
        for each in (self.before, self.after):
            nn.init.dirac_(each.weight)

    def forward(self, x: torch.Tensor, beside: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found = self.pool((self.before(x) + beside).relu() if self.is_cut else self.before(x).relu() + beside)
        return found, self.after(found.nan_to_num(0, 1, -1))


def _step(compute: Callable, *given: torch.Tensor) -> list[torch.Tensor]:
    leaves = [each.clone().requires_grad_() for each in given]
    found, result = compute(*leaves)
    weights = (torch.arange(found.numel()) % 5 - 2).reshape(found.shape).to(found.dtype)
    loss = (found.nan_to_num(0, 1, -1) * weights).sum() + result.sum()
    gradients = torch.autograd.grad(loss, leaves)
    return [found.detach(), *gradients]


def _numbers(sizes: tuple[int, ...]) -> torch.Tensor:
    """Few numbers, so that many are the same, and special ones."""
    made = torch.randint(-3, 4, sizes).float()
    for number in (math.nan, math.inf, -math.inf, -0.0):
        made[torch.rand(sizes) < 0.03] = number
    return made


@pytest.mark.parametrize("is_cut", [False, True], ids=["of numbers", "of what a ReLU leaves"])
@pytest.mark.parametrize("way", [*WAYS, *LEFT])
def test_pooling(way: str, is_cut: bool, monkeypatch: pytest.MonkeyPatch):
    """Catches another maximum where numbers are equal or NaN, a pixel beyond the border that is taken for one, and
    gradients that reach another pixel, or one twice; and kernels of ATen's where regions would do."""
    monkeypatch.setattr("dovetail.passes.layouts.lay_out_convolutions.pays", lambda *_: True)
    torch.manual_seed(0)
    net = _Net((WAYS | LEFT)[way], is_cut).to(torch.bfloat16)
    images = torch.randn(4, 16, 33, 34).bfloat16()
    given = images, _numbers((4, 16, 33, 34)).bfloat16()
    ours, wide = copy.deepcopy(net), copy.deepcopy(net).double()
    right = _step(wide, *(each.double() for each in given))
    expected = _step(net, *given)
    dovetail.stats(reset=True)
    actual = _step(torch.compile(ours, backend="dovetail"), *given)
    torch.testing.assert_close(actual[0], expected[0], rtol=0, atol=0, equal_nan=True)
    for eager, compiled, value in zip(expected[1:], actual[1:], right[1:], strict=True):
        assert (compiled.double() - value).norm() <= 1.01 * (eager.double() - value).norm()
    left = [op for op, _ in dovetail.stats().library_calls if "max_pool" in op]
    assert bool(left) is (way in LEFT), left
    assert not dovetail.stats().eager


def test_a_pool_before_all_convolutions(monkeypatch: pytest.MonkeyPatch):
    """Catches a gradient of windows whose maxima no chain of convolutions found: the compiler raised `KeyError`."""
    monkeypatch.setattr("dovetail.passes.layouts.lay_out_convolutions.pays", lambda *_: True)
    torch.manual_seed(0)
    net = nn.Sequential(nn.MaxPool2d(2), *(nn.Conv2d(16, 16, 3, padding=1) for _ in range(2))).bfloat16()
    images = torch.randn(4, 16, 32, 32).bfloat16()
    found = []
    for compute in (net, torch.compile(net, backend="dovetail")):
        leaf = images.clone().requires_grad_()
        result = compute(leaf)
        found.append([result.detach(), *torch.autograd.grad(result.float().square().sum(), leaf)])
    assert not dovetail.stats().eager
    for eager, ours in zip(*found, strict=True):
        assert ours.stride() == eager.stride()
        torch.testing.assert_close(ours, eager, rtol=5e-2, atol=5e-2)


@pytest.mark.parametrize("way", WAYS)
def test_windows_of_nothing_but_minus_infinity(way: str, monkeypatch: pytest.MonkeyPatch):
    """Catches a gradient of such a window that is lost, or reaches another pixel than the first: none is larger."""
    monkeypatch.setattr("dovetail.passes.layouts.lay_out_convolutions.pays", lambda *_: True)
    torch.manual_seed(0)
    net = _Net(WAYS[way], is_cut=False).to(torch.bfloat16)
    images, beside = torch.randn(4, 16, 33, 34).bfloat16(), torch.zeros(4, 16, 33, 34, dtype=torch.bfloat16)
    beside[:, :8, 4:20, :30] = -math.inf
    beside[0] = -math.inf
    found = []
    for compute in (net, torch.compile(copy.deepcopy(net), backend="dovetail")):
        leaf = beside.clone().requires_grad_()
        result = compute(images, leaf)[0]
        weights = (torch.arange(result.numel()) % 5 - 2).reshape(result.shape).to(result.dtype)
        found.append(torch.autograd.grad(result, leaf, weights)[0])
    torch.testing.assert_close(*found, rtol=0, atol=0)
    assert found[0][0].any()
