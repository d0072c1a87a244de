"""Ops that IREE gets wrong or does not know, said in others that it gets right; docs/op-sweep.md holds the evidence.

Each function takes an overload's arguments. It returns `NotImplemented` where the op may stay as it is, or where
its row leaves it to ATen.
"""

import math
from collections.abc import Callable

import torch

from dovetail.dialects.torch_facts.rounding import rounded
from dovetail.frontend.decompose.activations import ACTIVATIONS
from dovetail.frontend.decompose.comparisons import COMPARISONS
from dovetail.frontend.decompose.gradients import GRADIENTS
from dovetail.frontend.decompose.loss_gradients import LOSS_GRADIENTS
from dovetail.frontend.decompose.precision import HALVES
from dovetail.frontend.decompose.variance import VARIANCES

aten = torch.ops.aten


def _squeeze_dims(value: torch.Tensor, dims: list[int]) -> torch.Tensor:
    """torch-mlir has no `squeeze` of several dimensions; with static sizes it is a view."""
    squeezed = {dim % value.dim() for dim in dims} if value.dim() else set()
    return value.view([size for dim, size in enumerate(value.shape) if dim not in squeezed or size != 1])


def unfused_multiply_add(left: torch.Tensor, right: torch.Tensor, addend: torch.Tensor) -> torch.Tensor:
    """torch-mlir has no fused multiply-add; the code generator fuses again where the machine can."""
    return left * right + addend


# IREE's maximum, minimum and clamp drop NaN. `NotImplemented` keeps the op: on integers it is right.
# Of two zeros, eager's vectors give the second.


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


def _pow(value: torch.Tensor, exponent: float) -> torch.Tensor:
    """Small powers as products and roots, as in eager; IREE is wrong for zeros, infinities or negative bases."""
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


def _neg(value: torch.Tensor) -> torch.Tensor:
    """IREE negates whole numbers through floating point."""
    return NotImplemented if value.is_floating_point() or value.is_complex() else value.bitwise_not() + 1


def _argmax(value: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    """IREE's index is that of the largest number; eager's that of the first NaN, if there is one."""
    return _first(value, torch.amax, dim, keepdim)


def _argmin(value: torch.Tensor, dim: int | None = None, keepdim: bool = False) -> torch.Tensor:
    return _first(value, torch.amin, dim, keepdim)


def _first(value: torch.Tensor, extreme: Callable, dim: int | None, keepdim: bool) -> torch.Tensor:
    if not value.is_floating_point() or value.numel() == 0:
        return NotImplemented
    dims = list(range(value.dim())) if dim is None else [dim]
    found = (value == extreme(value, dims, keepdim=True)) | value.isnan()
    return torch.argmax(found.to(torch.int32), dim, keepdim)


def _max(value: torch.Tensor) -> torch.Tensor:
    return torch.amax(value) if value.numel() else NotImplemented


def _min(value: torch.Tensor) -> torch.Tensor:
    return torch.amin(value) if value.numel() else NotImplemented


def _max_dim(value: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    if not value.is_floating_point() or value.numel() == 0:
        return NotImplemented
    return torch.amax(value, dim, keepdim), torch.argmax(value, dim, keepdim)


def _min_dim(value: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    if not value.is_floating_point() or value.numel() == 0:
        return NotImplemented
    return torch.amin(value, dim, keepdim), torch.argmin(value, dim, keepdim)


def _wide(reduction: torch._ops.OpOverload) -> Callable:
    """IREE adds up in the element type, eager in float32: 20000 bfloat16 numbers came out 80 % too small."""

    def reduce(value: torch.Tensor, *args, dtype: torch.dtype | None = None, **kwargs) -> torch.Tensor:
        result = value.dtype if dtype is None else dtype
        if result in HALVES:
            return reduction(value.to(result).to(torch.float32), *args, **kwargs).to(result)
        return reduction(value.to(result), *args, **kwargs) if value.dtype in HALVES else NotImplemented

    return reduce


def _vector_norm(
    value: torch.Tensor,
    ord: float = 2,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The norms that are sums, as such: IREE adds up the whole one after the other."""
    result = value.dtype if dtype is None else dtype
    if not value.is_floating_point() or value.dim() == 0 or value.numel() == 0:
        return _wide(aten.linalg_vector_norm.default)(value, ord, dim, keepdim, dtype=dtype)
    dims = [each % value.dim() for each in dim] if dim else list(range(value.dim()))
    if ord != 0 and all(value.size(each) == 1 for each in dims):
        # As in eager, of a number whose power overflows, too.
        size = value.to(result).abs()
        return size if keepdim else size.squeeze(dims)
    if ord not in (1, 2):
        return _wide(aten.linalg_vector_norm.default)(value, ord, dim, keepdim, dtype=dtype)
    wide = value.to(torch.float32 if result in HALVES else result)
    total = (wide * wide if ord == 2 else wide.abs()).sum(dims, keepdim)
    return (total.sqrt() if ord == 2 else total).to(result)


def _pad(value: torch.Tensor, pad: list[int], fill: float = 0) -> torch.Tensor:
    """torch-mlir refuses to pad by less than nothing, IREE to round the number that is padded with."""
    held = rounded(fill, str(value.dtype).removeprefix("torch.")) if value.is_floating_point() else fill
    if all(size >= 0 for size in pad):
        return NotImplemented if held == fill or math.isnan(fill) else aten.constant_pad_nd(value, pad, held)
    for index, (before, after) in enumerate(zip(pad[::2], pad[1::2], strict=True)):
        dim = value.dim() - 1 - index
        start, end = max(-before, 0), value.size(dim) + min(after, 0)
        value = value.narrow(dim, start, end - start)
    return aten.constant_pad_nd(value, [max(size, 0) for size in pad], fill)


def _full(size: list[int], fill_value: float, *, dtype: torch.dtype | None = None, **options) -> torch.Tensor:
    """IREE keeps a truth value's last bit only: 2 would be false."""
    if dtype is not torch.bool or isinstance(fill_value, bool):
        return NotImplemented
    return torch.full(size, bool(fill_value), dtype=dtype, **options)


def _atanh(value: torch.Tensor) -> torch.Tensor:
    """IREE computes log((1 + x) / (1 - x)), which rounds small numbers away."""
    if value.dtype is not torch.float32:
        return NotImplemented
    return (torch.log1p(value) - torch.log1p(-value)) * 0.5


def _batch_norm_with_update_functional(value: torch.Tensor, *given) -> tuple[torch.Tensor, ...]:
    """The shape rule of PyTorch's own op gives running statistics another element type than its kernel."""
    weight, bias, mean, variance, momentum, eps = given
    result, *saved, mean, variance = aten._native_batch_norm_legit_functional(
        value, weight, bias, mean, variance, True, momentum, eps
    )
    return result, *saved, value.new_empty(0, dtype=torch.uint8), mean, variance


_NARROW = (torch.int8, torch.uint8, torch.int16)


def _to_copy(value: torch.Tensor, *, dtype: torch.dtype | None = None, **options) -> torch.Tensor:
    wide = _between(value.dtype, dtype)
    return (
        NotImplemented
        if wide is None
        else aten._to_copy(aten._to_copy(value, dtype=wide, **options), dtype=dtype, **options)
    )


def _between(before: torch.dtype, after: torch.dtype | None) -> torch.dtype | None:
    """The type that a conversion goes through in eager, where the code of a CPU may not.

    LLVM lets numbers that are too large for a narrow integer be what the CPU's packing makes of them: the nearest one.
    Without instructions for bfloat16, it calls a function for those of integers that IREE does not link.
    """
    if after in _NARROW and before.is_floating_point:
        return torch.int64 if (before, after) == (torch.float64, torch.uint8) else torch.int32
    return torch.float32 if after in HALVES and not before.is_floating_point and not before.is_complex else None


REPLACEMENTS: dict[torch._ops.OpOverload, Callable] = {
    aten.squeeze.dims: _squeeze_dims,
    aten._to_copy.default: _to_copy,
    aten.maximum.default: _maximum,
    aten.minimum.default: _minimum,
    aten.fmax.default: _fmax,
    aten.fmin.default: _fmin,
    aten.clamp.default: _clamp,
    aten.clamp.Tensor: _clamp_tensor,
    aten.pow.Tensor_Scalar: _pow,
    aten.remainder.Scalar: _remainder,
    **ACTIVATIONS,
    **COMPARISONS,
    aten.add.Tensor: _add,
    aten.add.Scalar: _add,
    aten.neg.default: _neg,
    aten.argmax.default: _argmax,
    aten.argmin.default: _argmin,
    **{
        reduction: _wide(reduction)
        for reduction in (
            aten.sum.dim_IntList,
            aten.mean.default,
            aten.mean.dim,
            aten.prod.default,
            aten.prod.dim_int,
        )
    },
    aten.linalg_vector_norm.default: _vector_norm,
    **VARIANCES,
    **GRADIENTS,
    **LOSS_GRADIENTS,
    aten.atanh.default: _atanh,
    aten._batch_norm_with_update_functional.default: _batch_norm_with_update_functional,
    aten.constant_pad_nd.default: _pad,
    aten.full.default: _full,
    aten.max.default: _max,
    aten.min.default: _min,
    aten.max.dim: _max_dim,
    aten.min.dim: _min_dim,
}
