"""The larger and the smaller of numbers: IREE's maximum, minimum and clamp drop NaN, and eager's do not.

On integers they are right, and stay. Of two zeros, eager's vectors give the second.
"""

import math
from collections.abc import Callable

import torch

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.frontend.decompose.mixed_types import is_mistaken, promoted
from dovetail.frontend.dynamo.open_sizes import is_open_value

aten = torch.ops.aten


def _extremum(wins: Callable, unless_nan: Callable | None = None) -> Callable:
    """Of two numbers that for which `wins` holds beside the other one; NaN, if one is.

    `unless_nan` is that of integers where the result is NaN only if both are: torch-mlir has no broadcast of it.
    """

    def extremum(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        if is_mistaken(left, right):
            left, right = promoted(left, right)
        elif not torch.result_type(left, right).is_floating_point:
            return NotImplemented if unless_nan is None else unless_nan(left, right)
        return torch.where(wins(left, right) | (left if unless_nan is None else right).isnan(), left, right)

    return extremum


def _clamp(value: torch.Tensor, low: float | None = None, high: float | None = None) -> torch.Tensor:
    bounds = [bound for bound in (low, high) if bound is not None]
    if any(map(is_open_value, bounds)):
        return NotImplemented
    dtype = value.dtype
    for bound in bounds:
        dtype = torch.promote_types(dtype, torch.result_type(value, bound))
    if not dtype.is_floating_point:
        return _clamp_whole(value, low, high)
    value = value.to(dtype)
    if any(math.isnan(bound) for bound in bounds):
        return torch.full_like(value, math.nan)
    if low is not None:
        value = torch.where(value < low, low, value)
    return value if high is None else torch.where(value > high, high, value)


def _clamp_whole(value: torch.Tensor, low: float | None, high: float | None) -> torch.Tensor:
    """torch-mlir takes no truth value for a bound."""
    if not isinstance(low, bool) and not isinstance(high, bool):
        return NotImplemented
    return torch.clamp(value, *(int(bound) if isinstance(bound, bool) else bound for bound in (low, high)))


def _clamp_tensor(
    value: torch.Tensor, low: torch.Tensor | None = None, high: torch.Tensor | None = None
) -> torch.Tensor:
    bounds = [bound for bound in (low, high) if bound is not None]
    dtypes = {tensor.dtype for tensor in (value, *bounds)}
    if len(dtypes) == 1 and not value.is_floating_point():  # of two types it does not compile
        return NotImplemented
    if low is not None:
        value = torch.maximum(value, low)
    return value if high is None else torch.minimum(value, high)


def _position_of(extreme: Callable) -> Callable:
    """IREE's index is that of the largest number; eager's that of the first NaN, if there is one."""

    def first(value: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
        if not value.is_floating_point() or is_empty(value):
            return NotImplemented
        dims = list(range(value.dim())) if dim is None else [dim]
        found = (value == extreme(value, dims, keepdim=True)) | value.isnan()
        return torch.argmax(found.to(torch.int32), dim, keepdim)

    return first


def _of_all(extreme: Callable) -> Callable:
    return lambda value: extreme(value) if not is_empty(value) else NotImplemented


def _with_position(extreme: Callable, position: Callable) -> Callable:
    def both(value: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        if not value.is_floating_point() or is_empty(value):
            return NotImplemented
        return extreme(value, dim, keepdim), position(value, dim, keepdim)

    return both


EXTREMA: dict[torch._ops.OpOverload, Callable] = {
    aten.maximum.default: _extremum(torch.gt),
    aten.minimum.default: _extremum(torch.lt),
    aten.fmax.default: _extremum(torch.ge, torch.maximum),
    aten.fmin.default: _extremum(torch.le, torch.minimum),
    aten.clamp.default: _clamp,
    aten.clamp.Tensor: _clamp_tensor,
    aten.argmax.default: _position_of(torch.amax),
    aten.argmin.default: _position_of(torch.amin),
    aten.max.default: _of_all(torch.amax),
    aten.min.default: _of_all(torch.amin),
    aten.max.dim: _with_position(torch.amax, torch.argmax),
    aten.min.dim: _with_position(torch.amin, torch.argmin),
}
