"""Ops that IREE gets wrong or does not know, said in others that it gets right; docs/op-sweep.md holds the evidence.

Each function takes an overload's arguments. It returns `NotImplemented` where the op may stay as it is, or where
its row leaves it to ATen.
"""

import math
from collections.abc import Callable

import torch

from dovetail.dialects.torch_facts.rounding import rounded, wrapped
from dovetail.frontend.decompose.activations import ACTIVATIONS
from dovetail.frontend.decompose.arithmetic import ARITHMETIC
from dovetail.frontend.decompose.convolutions import CONVOLUTIONS
from dovetail.frontend.decompose.embedding_gradients import EMBEDDING_GRADIENTS
from dovetail.frontend.decompose.extrema import EXTREMA
from dovetail.frontend.decompose.gradients import GRADIENTS
from dovetail.frontend.decompose.loss_gradients import LOSS_GRADIENTS
from dovetail.frontend.decompose.mixed_types import MIXED_TYPES
from dovetail.frontend.decompose.precision import HALF_PRECISION
from dovetail.frontend.decompose.sums import SUMS
from dovetail.frontend.decompose.variance import VARIANCES

aten = torch.ops.aten


def _squeeze_dims(value: torch.Tensor, dims: list[int]) -> torch.Tensor:
    """torch-mlir has no `squeeze` of several dimensions; with static sizes it is a view."""
    squeezed = {dim % value.dim() for dim in dims} if value.dim() else set()
    return value.view([size for dim, size in enumerate(value.shape) if dim not in squeezed or size != 1])


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


def _full_like(value: torch.Tensor, fill_value: float, *, dtype: torch.dtype | None = None, **options) -> torch.Tensor:
    if (dtype or value.dtype) is not torch.bool or isinstance(fill_value, bool):
        return NotImplemented
    return torch.full_like(value, bool(fill_value), dtype=dtype, **options)


def _fill(value: torch.Tensor, number: float) -> torch.Tensor:
    """torch-mlir does not lower the filling of bytes."""
    if value.dtype in (torch.int8, torch.uint8):
        return torch.full_like(value, number)
    if value.dtype is not torch.bool or isinstance(number, bool):
        return NotImplemented
    return torch.fill(value, bool(number))


def _select_scatter(value: torch.Tensor, written: torch.Tensor, dim: int, index: int) -> torch.Tensor:
    """IREE writes over `value`. PyTorch promotes it and `written` of another type, where ATen converts the latter."""
    size, sizes = value.size(dim), [1] * value.dim()
    sizes[dim] = size
    positions = torch.arange(size, device=value.device).view(sizes)
    row = written.to(value.dtype).unsqueeze(dim)
    return torch.where(positions == (index if index >= 0 else size + index), row, value)


def _slice_scatter(value: torch.Tensor, written: torch.Tensor, *slice_: int | None) -> torch.Tensor:
    """PyTorch promotes `value` and `written` of another type, where ATen converts the latter."""
    if written.dtype is value.dtype:
        return NotImplemented
    return aten.slice_scatter(value, written.to(value.dtype), *slice_)


def _scalar_tensor(number: float, *, dtype: torch.dtype | None = None, device=None) -> torch.Tensor:
    """PyTorch's own decompositions make numbers so, of which the torch dialect knows ATen's op alone."""
    return aten.scalar_tensor(number, dtype=dtype, device=device)


def _eye(rows: int, columns: int | None = None, *, dtype: torch.dtype | None = None, device=None, **_) -> torch.Tensor:
    """PyTorch counts in the narrowest type that does, of uint8 and uint16 too, which IREE and we don't compile."""
    row, column = (torch.arange(n, device=device) for n in (rows, rows if columns is None else columns))
    return (row.unsqueeze(-1) == column).to(torch.get_default_dtype() if dtype is None else dtype)


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
    if wide is None:
        return NotImplemented
    return aten._to_copy(aten._to_copy(value, dtype=wide, **options), dtype=dtype, **options)


def _between(before: torch.dtype, after: torch.dtype | None) -> torch.dtype | None:
    """The type that a conversion goes through in eager, where the code of a CPU may not.

    LLVM lets numbers that are too large for a narrow integer be what the CPU's packing makes of them: the nearest one.
    Without instructions for bfloat16, it calls a function for those of integers that IREE does not link.
    """
    if after in _NARROW and before.is_floating_point:
        return torch.int64 if (before, after) == (torch.float64, torch.uint8) else torch.int32
    return torch.float32 if after in HALF_PRECISION and not before.is_floating_point and not before.is_complex else None


def _compared(comparison: torch._ops.OpOverload) -> Callable:
    """With a number, which IREE takes for float64 or int64, and eager for the type that both promote to."""

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


_COMPARISONS = (aten.eq.Scalar, aten.ne.Scalar, aten.lt.Scalar, aten.le.Scalar, aten.gt.Scalar, aten.ge.Scalar)

REPLACEMENTS: dict[torch._ops.OpOverload, Callable] = {
    **ACTIVATIONS,
    **ARITHMETIC,
    **CONVOLUTIONS,
    **EMBEDDING_GRADIENTS,
    **EXTREMA,
    **GRADIENTS,
    **LOSS_GRADIENTS,
    **MIXED_TYPES,
    **SUMS,
    **VARIANCES,
    **{comparison: _compared(comparison) for comparison in _COMPARISONS},
    aten.squeeze.dims: _squeeze_dims,
    aten._to_copy.default: _to_copy,
    aten._batch_norm_with_update_functional.default: _batch_norm_with_update_functional,
    aten.constant_pad_nd.default: _pad,
    aten.full.default: _full,
    aten.full_like.default: _full_like,
    aten.fill.Scalar: _fill,
    aten.select_scatter.default: _select_scatter,
    aten.slice_scatter.default: _slice_scatter,
    aten.eye.default: _eye,
    aten.eye.m: _eye,
    torch.ops.prims.scalar_tensor.default: _scalar_tensor,
}
