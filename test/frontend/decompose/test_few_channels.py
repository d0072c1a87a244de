"""Gradients of images of few channels as products: eager's numbers and strides; the library's kernel for all others."""

import math

import pytest
import torch
from differential import assert_same
from torch import nn

import dovetail

PRODUCTS = {
    "three channels": (nn.Conv2d(3, 32, 3, padding=1), (4, 3, 20, 19)),
    "no padding, even kernel": (nn.Conv2d(2, 16, (2, 4)), (8, 2, 30, 33)),
    "padding as large as the kernel": (nn.Conv2d(1, 32, 3, padding=3), (8, 1, 28, 28)),
    "one dimension": (nn.Conv1d(4, 64, 5, padding=1), (16, 4, 80)),
    "three dimensions": (nn.Conv3d(1, 32, 3, padding=(0, 1, 2)), (2, 1, 12, 9, 10)),
}
OTHERS = {
    "stride": (nn.Conv2d(3, 32, 3, stride=2, padding=1), (16, 3, 32, 32)),
    "more channels": (nn.Conv2d(5, 64, 3, padding=1), (4, 5, 20, 20)),
    "products larger than the gradient": (nn.Conv2d(3, 26, 3, padding=1), (8, 3, 20, 20)),
    "few products": (nn.Conv2d(3, 32, 3, padding=1), (1, 3, 9, 9)),
    "channels last": (nn.Conv2d(3, 32, 3, padding=1).to(memory_format=torch.channels_last), (4, 3, 20, 20)),
    "groups": (nn.Conv2d(4, 64, 3, padding=1, groups=2), (4, 4, 20, 20)),
}


def _called(net: nn.Module, images: torch.Tensor) -> set[str]:
    dovetail.stats(reset=True)
    assert_same(net, images)
    return {name for name, _ in dovetail.stats().library_calls}


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    """Parts that are added up a pixel beside, or beyond an edge; and other kernels than 3 x 3 left to the library."""
    net, sizes = PRODUCTS[name]
    assert "aten.bmm.default" in _called(net, torch.randn(sizes).requires_grad_())


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("name", OTHERS)
def test_others(name):
    """Gradients in another layout than eager's, or products that take longer than the library's kernel."""
    net, sizes = OTHERS[name]
    last = sizes[1] > 1 and not net.weight.is_contiguous()
    images = torch.randn(sizes).to(memory_format=torch.channels_last if last else torch.contiguous_format)
    assert "aten.bmm.default" not in _called(net, images.requires_grad_())


@pytest.mark.usefixtures("op_by_op")
def test_gradients_of_images_alone():
    """A call of the library that computes nothing, where weights are frozen."""
    net = nn.Conv2d(3, 32, 3, padding=1).requires_grad_(False)
    called = _called(net, torch.randn(4, 3, 20, 20).requires_grad_())
    assert called >= {"aten.bmm.default"}
    assert "aten.convolution_backward.default" not in called


def _gradients(call, net: nn.Module, images: torch.Tensor, tangent: torch.Tensor) -> list[torch.Tensor]:
    leaf = images.clone().requires_grad_()
    return list(torch.autograd.grad(call(leaf), [leaf, *net.parameters()], tangent))


@pytest.mark.parametrize("number", [math.inf, math.nan])
def test_numbers_that_are_none(number):
    """An infinity or a NaN in one result's gradient reached pixels that the result does not see."""
    torch.manual_seed(0)
    net, images, tangent = nn.Conv2d(3, 32, 3, padding=1), torch.randn(4, 3, 20, 20), torch.randn(4, 32, 20, 20)
    tangent[1, 5, 0, 7] = number
    eager = _gradients(net, net, images, tangent)[0]
    made = _gradients(torch.compile(net, backend="dovetail"), net, images, tangent)[0]
    assert torch.equal(made.isfinite(), eager.isfinite())
    assert torch.equal(made.isnan(), eager.isnan())


def test_as_exact_as_eager():
    """Sums in another order may be three times as far from float64 as eager's, and no further."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 8, 3, padding=1))
    images, tangent = torch.randn(4, 3, 24, 24), torch.randn(4, 8, 24, 24)
    compiled = _gradients(torch.compile(net, backend="dovetail"), net, images, tangent)
    eager = _gradients(net, net, images, tangent)
    exact = _gradients(net.double(), net, images.double(), tangent.double())
    for made, wanted, right in zip(compiled, eager, exact, strict=True):
        assert (made - right).abs().max() <= 3 * (wanted - right).abs().max()


@pytest.mark.usefixtures("op_by_op")
def test_second_derivatives():
    """Catches second derivatives that lie otherwise than eager's, or leave out what was added up beside a pixel."""
    torch.manual_seed(0)
    net = nn.Conv2d(3, 32, 3, padding=1).requires_grad_(False)
    images = torch.randn(4, 3, 20, 20, requires_grad=True)

    def derivatives(call) -> list[torch.Tensor]:
        (gradient,) = torch.autograd.grad(call(images).sigmoid().sum(), images, create_graph=True)
        return [gradient, *torch.autograd.grad(gradient.square().sum(), images)]

    for made, eager in zip(derivatives(torch.compile(net, backend="dovetail")), derivatives(net), strict=True):
        assert made.stride() == eager.stride()
        torch.testing.assert_close(made, eager, rtol=1e-4, atol=1e-4)
