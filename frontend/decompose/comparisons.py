"""Comparisons with a number, which IREE compares as float64 or int64, and eager in the type that both promote to."""

import math
from collections.abc import Callable

import torch

from dovetail.dialects.torch_facts.rounding import rounded, wrapped

aten = torch.ops.aten


def _compared(comparison: torch._ops.OpOverload) -> Callable:
    def compare(value: torch.Tensor, other: float) -> torch.Tensor:
        dtype = torch.result_type(value, other)
        if isinstance(other, torch.SymInt | torch.SymFloat) or dtype in (torch.bool, torch.complex64, torch.complex128):
            return NotImplemented
        name = str(dtype).removeprefix("torch.")
        there = rounded(other, name) if dtype.is_floating_point else wrapped(int(other), name)
        if value.dtype is dtype and (there == other or math.isnan(there)):
            return NotImplemented
        return comparison(value.to(dtype), there)

    return compare


COMPARISONS: dict[torch._ops.OpOverload, Callable] = {
    comparison: _compared(comparison)
    for comparison in (aten.eq.Scalar, aten.ne.Scalar, aten.lt.Scalar, aten.le.Scalar, aten.gt.Scalar, aten.ge.Scalar)
}
