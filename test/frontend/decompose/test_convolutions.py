"""Convolutions that are products: eager's results, gradients and strides; library calls for all others."""

import math
from collections.abc import Callable

import pytest
import torch
from differential import assert_same
from special_calls import CALLS
from special_values import Decomposed, Operands, as_list
from torch import nn

import dovetail

PRODUCTS = {
    "each of 2 x 2 sees all": nn.Conv2d(6, 5, 3, padding=1),
    "one of 2 x 2": nn.Conv2d(6, 5, 3, stride=2, padding=1),
    "one that sees one pixel": nn.Conv2d(6, 5, 1, stride=2, bias=False),
    "along rows and columns differently": nn.Conv2d(6, 5, (1, 3), stride=(3, 1), padding=(0, 1)),
    "one dimension": nn.Conv1d(6, 5, 9, padding=4),
    "three dimensions": nn.Conv3d(6, 5, 3, padding=1, stride=(1, 2, 2)),
}
OTHERS = {
    "pixels differ": nn.Conv2d(6, 5, 1),
    "groups": nn.Conv2d(6, 6, 3, padding=1, groups=2),
    "dilated": nn.Conv2d(6, 5, 3, padding=2, dilation=2),
    "transposed": nn.ConvTranspose2d(6, 5, 3, padding=1),
    "float64": nn.Conv2d(6, 5, 3, padding=1).double(),
    "channels last": nn.Conv2d(6, 5, 3, padding=1).to(memory_format=torch.channels_last),
    "a large matrix": nn.Conv2d(6, 400, 3, padding=1),
}


def _images(net: nn.Module) -> torch.Tensor:
    sizes = {nn.Conv1d: [4], nn.Conv3d: [2] * 3}.get(type(net), [2, 2])
    images = torch.randn(7, 6, *sizes, dtype=net.weight.dtype)
    is_last = net.weight.dim() == 4 and not net.weight.is_contiguous()
    return (images.to(memory_format=torch.channels_last) if is_last else images).requires_grad_()


def _called(net: nn.Module) -> set[str]:
    dovetail.stats(reset=True)
    assert_same(net, _images(net))
    return {name for name, _ in dovetail.stats().library_calls}


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    """A library call for each, of 40 us and more; weights of another pixel, and gradients of those that saw none."""
    assert not {called for called in _called(PRODUCTS[name]) if "convolution" in called}


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("name", OTHERS)
def test_others(name):
    """Results in another layout than eager's, and products with zeros, which an infinite pixel makes NaN."""
    assert {called for called in _called(OTHERS[name]) if "convolution" in called} == {
        "aten.convolution.default",
        "aten.convolution_backward.default",
    }


@pytest.mark.parametrize("call", [*CALLS["convolution"], *CALLS["convolution_backward"]])
@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_numbers_that_are_none(call, number):
    """An infinity or a NaN in what a result does not see made NaN of it, by a weight of zero. Others are exact."""

    def operands() -> Callable:
        few = Operands(torch.float32, "few", 0)
        return lambda *sizes: few(*sizes).index_put_((torch.tensor(0),) * len(sizes), torch.tensor(number))

    expected = as_list(call(operands()))
    with Decomposed() as mode:
        made = as_list(call(operands()))
    assert mode.met
    assert all(torch.equal(*map(_exact, each)) for each in zip(made, expected, strict=True))


def _exact(value: torch.Tensor) -> torch.Tensor:
    return torch.stack([value.nan_to_num(0, 0, 0), value.isnan().float(), (value == math.inf).float()])


def test_as_exact_as_eager():
    """Sums in another order may be three times as far from float64 as eager's, and no further."""
    torch.manual_seed(0)
    net, images = nn.Sequential(nn.Conv2d(32, 16, 3, padding=1), nn.Conv2d(16, 64, 3, 2, 1)), torch.randn(64, 32, 2, 2)
    tangent = torch.randn(64, 64, 1, 1)

    def run(call, images: torch.Tensor) -> list[torch.Tensor]:
        leaf = images.clone().requires_grad_()
        result = call(leaf)
        return [result, *torch.autograd.grad(result, [leaf, *net.parameters()], tangent.to(result.dtype))]

    compiled, eager = run(torch.compile(net, backend="dovetail"), images), run(net, images)
    exact = run(net.double(), images.double())
    for made, wanted, right in zip(compiled, eager, exact, strict=True):
        assert (made - right).abs().max() <= 3 * (wanted - right).abs().max()
