"""Comparisons with a number, which IREE compares as float64 and eager in the type that both promote to."""

import math
from collections.abc import Callable

import torch

aten = torch.ops.aten
_HALVES = (torch.float16, torch.bfloat16)


def _compared(comparison: torch._ops.OpOverload) -> Callable:
    def compare(value: torch.Tensor, other: float) -> torch.Tensor:
        dtype = torch.result_type(value, other)
        if not dtype.is_floating_point or isinstance(other, torch.SymInt | torch.SymFloat):
            return NotImplemented
        # PyTorch rounds to a half in two steps.
        single = _rounded(other, torch.finfo(torch.float32)) if dtype in _HALVES else other
        rounded = _rounded(single, torch.finfo(dtype))
        if value.dtype is dtype and (rounded == other or math.isnan(rounded)):
            return NotImplemented
        return comparison(value.to(dtype), rounded)

    return compare


def _rounded(number: float, format_: torch.finfo) -> float:
    """The nearest number of a floating-point format, ties to even; computed without a tensor, which would be traced."""
    if not math.isfinite(number):
        return number
    exponent = math.frexp(max(abs(number), format_.smallest_normal))[1]
    step = math.ldexp(format_.eps, exponent - 1)
    nearest = round(number / step) * step
    return nearest if abs(nearest) <= format_.max else math.copysign(math.inf, number)


COMPARISONS: dict[torch._ops.OpOverload, Callable] = {
    comparison: _compared(comparison)
    for comparison in (
        aten.eq.Scalar,
        aten.ne.Scalar,
        aten.lt.Scalar,
        aten.le.Scalar,
        aten.gt.Scalar,
        aten.ge.Scalar,
    )
}
