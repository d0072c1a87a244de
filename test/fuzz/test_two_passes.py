"""Variances and means in two passes are eager's, and nearer to what is right."""

import math

import pytest
import torch
from torch.nn import functional

from dovetail.tools.fuzz.two_passes import TwoPassVariances


@pytest.mark.parametrize("op", [torch.var, torch.std, torch.var_mean, torch.std_mean])
@pytest.mark.parametrize("options", [{}, {"dim": 1}, {"dim": [0, -1], "correction": 0, "keepdim": True}])
def test_same_as_eager(op, options: dict):
    """Catches another axis, correction or shape, by which every variance would be judged."""
    x = torch.arange(60.0, dtype=torch.float64).sin().view(3, 4, 5)
    with TwoPassVariances():
        actual = op(x, **options)
    torch.testing.assert_close(actual, op(x, **options))


def test_deviation_of_many_numbers():
    """Catches what is right being as far off as eager: compiled code that is nearer would be wrong."""
    x = torch.nn.functional.silu((torch.arange(524287) * 7919 % 49 - 24).double() / 8)
    numbers = x.tolist()
    mean = math.fsum(numbers) / len(numbers)
    right = math.sqrt(math.fsum((number - mean) ** 2 for number in numbers) / (len(numbers) - 1))
    with TwoPassVariances():
        assert abs(x.std().item() - right) < 1e-15
    assert abs(x.std().item() - right) > 1e-14


@pytest.mark.parametrize("op", [torch.var, torch.std])
def test_equal_numbers_have_no_variance(op):
    """Catches a deviation of nearly zero, with NaN for a gradient, by which compiled code that has zero is wrong."""
    x = torch.full((3, 65537), 0.1, dtype=torch.float64)
    assert op(x) != 0
    with TwoPassVariances():
        assert op(x) == 0


@pytest.mark.parametrize("has_parameters", [False, True])
@pytest.mark.parametrize("norm", ["layer", "group"])
def test_same_norms_as_eager(norm: str, has_parameters: bool):
    """Catches a weight of another channel, and a mean or deviation of another shape than the backward reads."""
    x = torch.arange(96.0, dtype=torch.float64).sin().view(2, 6, 4, 2).contiguous(memory_format=torch.channels_last)
    shape = (4, 2) if norm == "layer" else (6,)
    parameters = [torch.linspace(0.5, 2, math.prod(shape), dtype=torch.float64).view(shape)] * 2
    weight, bias = parameters if has_parameters else (None, None)

    def run() -> list[torch.Tensor]:
        if norm == "layer":
            return [*torch.native_layer_norm(x, shape, weight, bias, 1e-5)]
        return [*torch.native_group_norm(x, weight, bias, 2, 6, 8, 3, 1e-5)]

    with TwoPassVariances():
        actual = run()
    torch.testing.assert_close(actual, run())
    assert actual[0].stride() == run()[0].stride()


@pytest.mark.parametrize("norm", [lambda x: functional.layer_norm(x, (1009,)), lambda x: functional.group_norm(x, 1)])
def test_norm_of_numbers_whose_mean_is_zero(norm):
    """Catches zero being told from zero: eager's mean of whole numbers is a little off, and so was what was right."""
    half = (torch.arange(504.0, dtype=torch.float64) * 7919 % 5).sub(2)
    x = torch.cat([half, half.new_zeros(1), -half])[None]
    assert norm(x)[0, 504] != 0
    with TwoPassVariances():
        assert norm(x)[0, 504] == 0


def test_batch_norm():
    """Catches a batch norm in one pass, by which compiled code that is nearer would be wrong, or other statistics."""
    x = ((torch.arange(524288) * 7919 % 49 - 24).double() / 8 + 100).view(-1, 1)
    mean = math.fsum(x.flatten().tolist()) / len(x)
    variance = math.fsum((each - mean) ** 2 for each in x.flatten().tolist()) / len(x)
    right = (x - mean) / math.sqrt(variance + 1e-5)
    running = [torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)]
    eager = [each.clone() for each in running]
    with TwoPassVariances():
        actual = torch.nn.functional.batch_norm(x, *running, training=True)
    expected = torch.nn.functional.batch_norm(x, *eager, training=True)
    assert (actual - right).abs().max() < 2e-15
    assert (expected - right).abs().max() > 2e-14
    torch.testing.assert_close(running, eager)
