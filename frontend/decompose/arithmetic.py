"""Arithmetic on each element that IREE does in another way than eager, or torch-mlir does not know."""

import math
from collections.abc import Callable

import torch
from torch._decomp import get_decompositions

from dovetail.dialects.torch_facts.rounding import rounded
from dovetail.frontend.dynamo.open_sizes import is_open_value

aten = torch.ops.aten


def unfused_multiply_add(left: torch.Tensor, right: torch.Tensor, addend: torch.Tensor) -> torch.Tensor:
    """torch-mlir has no fused multiply-add; the code generator fuses again where the machine can."""
    return left * right + addend


def _pow(value: torch.Tensor, exponent: float) -> torch.Tensor:
    """Small powers as products and roots, as in eager; IREE is wrong for zeros, infinities or negative bases."""
    if is_open_value(exponent):
        return NotImplemented
    if not value.is_floating_point() or not math.isfinite(exponent):
        return _small_pow(value, exponent)
    if not float(exponent).is_integer():
        return _fractional_pow(value, exponent)
    return _small_pow(value, exponent) if exponent >= 0 else torch.pow(value, -exponent).reciprocal()


def _small_pow(value: torch.Tensor, exponent: float) -> torch.Tensor:
    if exponent == 0:
        return torch.ones_like(value, dtype=torch.result_type(value, exponent))
    keeps_dtype = torch.result_type(value, exponent) == value.dtype and value.dtype is not torch.bool
    if not keeps_dtype or exponent not in (1, 2, 3):
        return NotImplemented
    return math.prod([value] * (int(exponent) - 1), start=value.clone())


def _fractional_pow(value: torch.Tensor, exponent: float) -> torch.Tensor:
    if value.dtype is torch.float16 or exponent not in (0.5, -0.5):
        return NotImplemented  # of -inf, float16's power and root differ in eager
    return value.sqrt() if exponent > 0 else value.rsqrt()


def _power_of_number(base: float, exponent: torch.Tensor) -> torch.Tensor:
    """In float64, whose rounding float32 does not see; the base is float32 first, as in eager.

    GPUs are slow at it: only a single number, as an optimizer's count of steps, is not left to ATen there.
    """
    is_slow = exponent.device.type != "cpu" and exponent.dim() > 0
    if exponent.dtype is not torch.float32 or is_slow or not isinstance(base, int | float):
        return NotImplemented
    held = rounded(base, "float32")
    # The logarithm is finite, and not 0, which would make NaN of infinite exponents.
    if not torch.finfo(torch.float32).tiny <= held < math.inf or held == 1:
        return NotImplemented
    return torch.exp(exponent.double() * math.log(held)).float()


_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def _rsub(value: torch.Tensor, other: float, alpha: float = 1) -> torch.Tensor:
    """torch-mlir makes no tensor of a number that is open, which PyTorch would subtract from.

    Of a whole number it makes one of int64, which decides the type of the difference from one without dimensions.
    """
    if is_open_value(other) and alpha == 1:
        return torch.neg(value) + other
    if value.dim() == 0 and isinstance(other, int) and value.dtype in _INTEGERS:
        return torch.neg(value * alpha) + other
    return _rsub_by_pytorch(value, other, alpha)


def _shift(by_tensor: torch._ops.OpOverload) -> Callable:
    """Shifts by a number that stands in the program, from 0 to less than the width; regions know no others.

    Eager converts the number to the tensor's type, by which 256 is 0 in int8, and shifts by others as far as it can.
    IREE makes no constants of uint8.
    """

    def shift(value: torch.Tensor, by: int) -> torch.Tensor:
        is_signed = value.dtype in _INTEGERS and value.dtype.is_signed
        if not is_signed or not isinstance(by, int) or is_open_value(by) or not 0 <= by < torch.iinfo(value.dtype).bits:
            return NotImplemented
        return by_tensor(value, torch.full((), by, dtype=value.dtype, device=value.device))

    return shift


# Looked up once: it goes over all of PyTorch's.
_rsub_by_pytorch = get_decompositions([aten.rsub.Scalar])[aten.rsub.Scalar]


def _remainder(value: torch.Tensor, divisor: float) -> torch.Tensor:
    """Eager raises for whole numbers and divisor 0: left to a form that IREE is not given."""
    return torch.remainder(value, torch.full_like(value, 0)) if divisor == 0 else NotImplemented


def _add(left: torch.Tensor, right: torch.Tensor | float, *, alpha: float = 1) -> torch.Tensor:
    """IREE adds truth values modulo 2."""
    if alpha != 1 or torch.result_type(left, right) is not torch.bool:
        return NotImplemented
    if not isinstance(right, torch.Tensor):
        right = torch.full_like(left, right)
    return torch.logical_or(left, right)


def _divide(left: torch.Tensor | float, right: torch.Tensor | float, *, rounding_mode: str | None) -> torch.Tensor:
    """A number as a tensor would decide the type of the quotient where the other tensor has no dimensions, too."""
    if not isinstance(right, torch.Tensor):
        return aten.div.Scalar_mode(left, right, rounding_mode=rounding_mode)
    if isinstance(left, torch.Tensor):
        return NotImplemented
    numerator = torch.full((), left, dtype=torch.result_type(left, right), device=right.device)
    return torch.div(numerator, right, rounding_mode=rounding_mode)


def _xlogy_by_number(value: torch.Tensor, number: float) -> torch.Tensor:
    return torch.xlogy(value, _held(number, value))


def _xlogy_of_number(number: float, value: torch.Tensor) -> torch.Tensor:
    return torch.xlogy(_held(number, value), value)


def _held(number: float, value: torch.Tensor) -> torch.Tensor:
    """`number` rounded to the type of the result, as ATen takes it; PyTorch's own `xlogy` takes it as it is."""
    dtype = value.dtype if value.is_floating_point() else torch.get_default_dtype()
    return torch.full((), number, dtype=dtype, device=value.device)


def _neg(value: torch.Tensor) -> torch.Tensor:
    """IREE negates whole numbers through floating point."""
    return NotImplemented if value.is_floating_point() or value.is_complex() else value.bitwise_not() + 1


def _atanh(value: torch.Tensor) -> torch.Tensor:
    """IREE computes log((1 + x) / (1 - x)), which rounds small numbers away."""
    if value.dtype is not torch.float32:
        return NotImplemented
    return (torch.log1p(value) - torch.log1p(-value)) * 0.5


def _angle(value: torch.Tensor) -> torch.Tensor:
    """torch-mlir has none. Of numbers below 0 it is pi, of others 0."""
    if value.is_complex():
        return NotImplemented
    if not value.dtype.is_signed:
        return torch.zeros_like(value, dtype=torch.get_default_dtype())
    dtype = value.dtype if value.is_floating_point() else torch.get_default_dtype()
    angle = (value < 0).to(dtype) * math.pi
    return torch.where(value.isnan(), value, angle) if value.is_floating_point() else angle


ARITHMETIC: dict[torch._ops.OpOverload, Callable] = {
    aten.pow.Scalar: _power_of_number,
    aten.rsub.Scalar: _rsub,
    aten.__lshift__.Scalar: _shift(aten.bitwise_left_shift.Tensor),
    aten.__lshift__.Tensor: aten.bitwise_left_shift.Tensor,
    aten.__rshift__.Scalar: _shift(aten.bitwise_right_shift.Tensor),
    aten.__rshift__.Tensor: aten.bitwise_right_shift.Tensor,
    aten.bitwise_left_shift.Tensor_Scalar: _shift(aten.bitwise_left_shift.Tensor),
    aten.bitwise_right_shift.Tensor_Scalar: _shift(aten.bitwise_right_shift.Tensor),
    aten.pow.Tensor_Scalar: _pow,
    aten.remainder.Scalar: _remainder,
    aten.add.Tensor: _add,
    aten.add.Scalar: _add,
    aten.div.Tensor_mode: _divide,
    aten.xlogy.Scalar_Self: _xlogy_of_number,
    aten.xlogy.Scalar_Other: _xlogy_by_number,
    aten.neg.default: _neg,
    aten.atanh.default: _atanh,
    aten.angle.default: _angle,
}
