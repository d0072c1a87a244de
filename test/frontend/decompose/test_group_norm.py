"""Group normalization in parts: eager's results, gradients and strides, and sums as exact as eager's."""

import pytest
import torch
from differential import assert_same
from torch.nn import functional

from dovetail.frontend.decompose.norms import group_norm


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("shape", [(4, 24), (4, 24, 5), (2, 24, 3, 7)], ids=str)
@pytest.mark.parametrize("is_affine", [False, True])
def test_results_and_gradients(shape: tuple[int, ...], is_affine: bool):
    """Would catch a weight that scales groups instead of channels, and a mean in another group's place.

    Groups are of eight numbers at least: of two, eager's gradient is off by 1e-4.
    """
    value = torch.randn(shape, requires_grad=True)
    affine = [torch.randn(24, requires_grad=True) for _ in range(2)] if is_affine else [None, None]
    assert_same(lambda x, weight, bias: functional.group_norm(x, 3, weight, bias), value, *affine)


@pytest.mark.usefixtures("op_by_op")
def test_channels_last():
    """Would catch a result in rows for an operand of which eager's kernel keeps the layout."""
    value = torch.randn(2, 6, 4, 5).contiguous(memory_format=torch.channels_last)
    assert_same(lambda x: functional.group_norm(x, 2), value, train=False)


def test_mean_of_many():
    """Would catch sums of one number after the other: the means of 4097 numbers were off by ten times eager's error."""
    value = torch.randn(16, 4097, generator=torch.Generator().manual_seed(0)) + 3
    precise = functional.group_norm(value.double(), 1)
    compiled = torch.compile(lambda x: functional.group_norm(x, 1), backend="dovetail")(value)
    eager = functional.group_norm(value, 1)
    errors = [(result.double() - precise).mean(1).abs().max().item() for result in (compiled, eager)]
    assert errors[0] <= 3 * errors[1] + torch.finfo(torch.float32).eps


def test_subnormal_numbers():
    """Would catch a mean of numbers that were made smaller first, which lose their last digits."""
    value = torch.arange(-70.0, 85.0).reshape(1, 31, 5) * 2.0**-149
    mean = group_norm(value, None, None, 1, 31, 5, 1, 1e-5)[1]
    assert mean.item() == 7 * 2.0**-149
