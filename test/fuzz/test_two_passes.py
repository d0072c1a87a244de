"""Variances in two passes are eager's, and nearer to what is right."""

import math

import pytest
import torch

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
    right = math.sqrt(math.fsum((each - mean) ** 2 for each in numbers) / (len(numbers) - 1))
    with TwoPassVariances():
        assert abs(x.std().item() - right) < 1e-15
    assert abs(x.std().item() - right) > 1e-14
