"""Gradients that Dovetail writes in the form of eager's kernels, on numbers that PyTorch's forms get wrong."""

import pytest
import torch
from torch.nn import functional

NAN, LARGE = torch.nan, 3e38


def gradient(function, value, options):
    leaf = value.clone().requires_grad_()
    compiled = torch.compile(function, backend="dovetail") if options else function
    result = compiled(leaf)
    weights = torch.linspace(0.5, 1.5, result.numel()).reshape(result.shape).to(result.dtype)
    return torch.autograd.grad(result, leaf, weights)[0]


OF_NAN = {
    "smooth_l1 of each": (lambda x: functional.smooth_l1_loss(x, 2 * x, reduction="none"), [NAN, 0.3, -2.0, 2.0, 0.0]),
    "smooth_l1": (lambda x: functional.smooth_l1_loss(x, 2 * x), [NAN, 0.3, -2.0, 2.0, 1.0]),
    "smooth_l1 with beta": (
        lambda x: functional.smooth_l1_loss(x, 2 * x, beta=0.5, reduction="sum"),
        [NAN, 0.3, -2.0, 2.0, 0.5],
    ),
    "elu": (functional.elu, [NAN, 3.0, -3.0, 0.5, -0.5, 0.0, torch.inf, -torch.inf] * 4),
    "hardswish": (functional.hardswish, [NAN, 3.0, -3.0, 2.9, -2.9, 4.0, -4.0, 0.0] * 4),
}


def test_nan_has_no_gradient():
    """Would catch a gradient of zero, or the upstream one, where eager's is NaN."""

    def of_each(*values):
        return [function(value) for (function, _), value in zip(OF_NAN.values(), values, strict=True)]

    def gradients(function):
        leaves = [torch.tensor(value).requires_grad_() for _, value in OF_NAN.values()]
        results = function(*leaves)
        weights = [torch.linspace(0.5, 1.5, result.numel()).reshape(result.shape) for result in results]
        return dict(zip(OF_NAN, torch.autograd.grad(results, leaves, weights), strict=True))

    compiled = torch.compile(of_each, backend="dovetail")
    torch.testing.assert_close(gradients(compiled), gradients(of_each), equal_nan=True)


def test_batch_norm_of_numbers_without_squares():
    """Would catch NaN as the gradient of a batch norm whose differences from the mean have no square in float32."""
    torch.manual_seed(0)
    value = torch.randn(13, 5)
    value[0, 1], value[:, 2], value[3, 4] = LARGE, value[:, 2] * 1e30, -LARGE

    def norm(x):
        return functional.batch_norm(x, None, None, training=True).square()

    exact = gradient(norm, value.double(), False)
    eager, ours = (gradient(norm, value, each) for each in (False, True))
    assert (ours - exact).abs().max() <= 3 * (eager - exact).abs().max() + 1e-6


@pytest.mark.parametrize("weight", [None, torch.linspace(0.3, 2.0, 7)], ids=["plain", "weighted"])
def test_group_norm_of_one_number(weight):
    """Would catch products with a large reciprocal deviation that cancel but for the rounding error of one of them."""
    value = torch.randn(67, 7, generator=torch.Generator().manual_seed(0))
    assert (gradient(lambda x: functional.group_norm(x, 7, weight), value, True) == 0).all()


def test_layer_norm_of_numbers_whose_sum_overflows():
    """Would catch NaN where eager's mean of the largest numbers is finite."""
    value = torch.randn(4, 17)
    value[1, 3:8], value[2] = LARGE, 1.0
    norm = torch.compile(lambda x: functional.layer_norm(x, (17,)), backend="dovetail")
    torch.testing.assert_close(norm(value), functional.layer_norm(value, (17,)))
