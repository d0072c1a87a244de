"""Functions that are nearly linear at zero keep their relative precision there, as in eager."""

from collections.abc import Callable

import pytest
import torch
from torch.nn import functional

UNITS = 4  # of rounding; eager's own kernels are up to two off


def small(dtype: torch.dtype) -> torch.Tensor:
    """Numbers of either sign from a thousandth of the rounding of 1 up to 1/2."""
    least = torch.finfo(dtype).eps / 1000
    sizes = torch.logspace(torch.tensor(least, dtype=torch.float64).log10().item(), -0.31, 501, dtype=torch.float64)
    return torch.cat([sizes, -sizes]).to(dtype)


FUNCTIONS: dict[str, Callable] = {
    **{each.__name__: each for each in (torch.expm1, torch.log1p, torch.atanh, torch.atan, torch.exp2)},
    **{each.__name__: each for each in (functional.elu, functional.selu, functional.celu)},
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_relative_precision(dtype: torch.dtype):
    """The code generator says expm1(x) as exp(x) - 1, which is 0 for a small x, or takes too short a polynomial."""
    values = small(dtype)

    def each(x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {name: function(x) for name, function in FUNCTIONS.items()}

    compiled = torch.compile(each, backend="dovetail")(values)
    for name, expected in each(values.double()).items():
        error = ((compiled[name].double() - expected) / expected).abs().max().item()
        assert error <= UNITS * torch.finfo(dtype).eps, name


def test_gradient_of_a_soft_margin_that_is_kept():
    """PyTorch's decomposition subtracts 1 from a sigmoid of nearly 1: the gradient is off by 3 %, or zero."""
    value = torch.linspace(5, 40, 100, requires_grad=True)
    target = torch.ones(100)
    torch.compile(functional.soft_margin_loss, backend="dovetail")(value, target, reduction="sum").backward()
    precise = -torch.sigmoid(-value.detach().double())
    torch.testing.assert_close(value.grad.double(), precise, rtol=1e-6, atol=0)


def test_gradient_of_hardsigmoid_in_double_precision():
    """Eager multiplies by a sixth of single precision in double precision too; another sixth is another gradient."""
    gradients = []
    for function in (functional.hardsigmoid, torch.compile(functional.hardsigmoid, backend="dovetail")):
        value = torch.linspace(-4, 4, 33, dtype=torch.float64, requires_grad=True)
        function(value).sum().backward()
        gradients.append(value.grad)
    assert torch.equal(*gradients)


def test_batch_norm_that_updates_half_precision_statistics():
    """The shape rule of the op gives them another element type than its kernel, and a region can't be launched."""

    def updated(value, weight, bias, mean, variance):
        return torch.ops.aten._batch_norm_with_update(value, weight, bias, mean, variance, 0.1, 1e-5)[0]

    arguments = [torch.randn(4, 5, 3), torch.ones(5), torch.zeros(5), torch.zeros(5), torch.ones(5)]
    halves = [[argument.bfloat16() for argument in arguments] for _ in range(2)]
    expected = updated(*halves[0])
    actual = torch.compile(updated, backend="dovetail")(*halves[1])
    for one, other in zip([expected, *halves[0]], [actual, *halves[1]], strict=True):
        torch.testing.assert_close(other, one)
