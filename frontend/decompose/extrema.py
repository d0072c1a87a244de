"""The larger and the smaller of numbers: IREE's maximum, minimum and clamp drop NaN, and eager's do not.

On integers they are right, and stay. Of two zeros, eager's vectors give the second.
"""

import math
from collections.abc import Callable

import torch

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.frontend.dynamo.open_sizes import is_open

aten = torch.ops.aten


def _maximum(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    if not torch.result_type(left, right).is_floating_point:
        return NotImplemented
    return torch.where((left > right) | left.isnan(), left, right)


def _minimum(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    if not torch.result_type(left, right).is_floating_point:
        return NotImplemented
    return torch.where((left < right) | left.isnan(), left, right)


def _fmax(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """torch-mlir has no broadcast of it."""
    if not torch.result_type(left, right).is_floating_point:
        return torch.maximum(left, right)
    return torch.where((left >= right) | right.isnan(), left, right)


def _fmin(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    if not torch.result_type(left, right).is_floating_point:
        return torch.minimum(left, right)
    return torch.where((left <= right) | right.isnan(), left, right)


def _clamp(value: torch.Tensor, low: float | None = None, high: float | None = None) -> torch.Tensor:
    bounds = [bound for bound in (low, high) if bound is not None]
    if any(map(is_open, bounds)):
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
    if not any(each.dtype.is_floating_point for each in (value, *bounds)):
        return NotImplemented
    if low is not None:
        value = torch.maximum(value, low)
    return value if high is None else torch.minimum(value, high)


def _argmax(value: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    """IREE's index is that of the largest number; eager's that of the first NaN, if there is one."""
    return _first(value, torch.amax, dim, keepdim)


def _argmin(value: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    return _first(value, torch.amin, dim, keepdim)


def _first(value: torch.Tensor, extreme: Callable, dim: int | None, keepdim: bool) -> torch.Tensor:
    if not value.is_floating_point() or is_empty(value):
        return NotImplemented
    dims = list(range(value.dim())) if dim is None else [dim]
    found = (value == extreme(value, dims, keepdim=True)) | value.isnan()
    return torch.argmax(found.to(torch.int32), dim, keepdim)


def _max(value: torch.Tensor) -> torch.Tensor:
    return torch.amax(value) if not is_empty(value) else NotImplemented


def _min(value: torch.Tensor) -> torch.Tensor:
    return torch.amin(value) if not is_empty(value) else NotImplemented


def _max_dim(value: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    if not value.is_floating_point() or is_empty(value):
        return NotImplemented
    return torch.amax(value, dim, keepdim), torch.argmax(value, dim, keepdim)


def _min_dim(value: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    if not value.is_floating_point() or is_empty(value):
        return NotImplemented
    return torch.amin(value, dim, keepdim), torch.argmin(value, dim, keepdim)


EXTREMA: dict[torch._ops.OpOverload, Callable] = {
    aten.maximum.default: _maximum,
    aten.minimum.default: _minimum,
    aten.fmax.default: _fmax,
    aten.fmin.default: _fmin,
    aten.clamp.default: _clamp,
    aten.clamp.Tensor: _clamp_tensor,
    aten.argmax.default: _argmax,
    aten.argmin.default: _argmin,
    aten.max.default: _max,
    aten.min.default: _min,
    aten.max.dim: _max_dim,
    aten.min.dim: _min_dim,
}
