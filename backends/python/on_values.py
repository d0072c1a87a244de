"""What runs for an op of ATen's on values, which have no strides of their own."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch

from dovetail.backends.python.operators import overload

_aten = torch.ops.aten


def callable_for(target: torch._ops.OpOverload) -> Callable[..., Any]:
    """What to call for `target` on values: views by size must accept any strides, since values have none."""
    return _ON_VALUES.get(target) or BINDINGS.get(target, target)


def _as_strided(value, size, stride, storage_offset=None):
    """`as_strided` of a value: of the memory that it would have, alone, if it were laid out row by row."""
    rows = value.contiguous()  # may lie within larger memory
    return _aten.as_strided.default(rows, size, stride, rows.storage_offset() + (storage_offset or 0))


def _scatter(target: torch._ops.OpOverload, view: torch._ops.OpOverload) -> Callable[..., Any]:
    """A scatter into what `view` gives of a value; ATen's copies all the memory that its tensor is a part of."""

    def scatter(value, source, *where):
        if value.is_complex() and torch.is_grad_enabled():  # of which ATen's has no derivative
            result = value.clone()
            view(result, *where).copy_(source)
            return result
        is_whole = value.untyped_storage().nbytes() == value.numel() * value.itemsize
        return target(value if is_whole else value.clone(), source, *where)

    return scatter


def _as_strided_scatter(value, source, size, stride, storage_offset=None):
    """`as_strided_scatter` into a value: into the memory that it would have, alone, if it were laid out row by row."""
    rows = value.clone(memory_format=torch.contiguous_format)
    rows.as_strided(size, stride, storage_offset or 0).copy_(source)
    return rows


def _bernoulli(value, p, generator=None):
    """`bernoulli` in the order in which `value` lies, as `bernoulli_` draws; ATen's own goes row by row."""
    return torch.empty_like(value).bernoulli_(p, generator=generator).contiguous()


def _copy(value, source, non_blocking=False):
    """`copy` of `source` into a value, as eager's `copy_` does it: ATen's `copy` has no derivative."""
    if torch.is_grad_enabled():
        return value.clone().copy_(source, non_blocking)
    return _aten.copy.default(value, source, non_blocking)


def _layer_norm_backward(gradient, value, shape, mean, reciprocal, *given):
    """The gradients of a layer norm, whose mean may be computed from its value: ATen's has no derivative by that."""
    target = _aten.native_layer_norm_backward.default
    if torch.is_grad_enabled() and (mean.requires_grad or reciprocal.requires_grad):
        from torch._decomp import decomposition_table  # takes long to import, and few need it

        return decomposition_table[target](gradient, value, shape, mean, reciprocal, *given)
    return target(gradient, value, shape, mean, reciprocal, *given)


_ON_VALUES: dict[Any, Callable[..., Any]] = {
    _aten.bernoulli.p: _bernoulli,
    _aten.copy.default: _copy,
    _aten.native_layer_norm_backward.default: _layer_norm_backward,
    _aten.view.default: torch.reshape,
    _aten._unsafe_view.default: torch.reshape,
    _aten._reshape_alias.default: lambda value, size, stride: torch.reshape(value, size),
    _aten.as_strided.default: _as_strided,
    _aten.as_strided_scatter.default: _as_strided_scatter,
    _aten.slice_scatter.default: _scatter(_aten.slice_scatter.default, _aten.slice.Tensor),
    _aten.select_scatter.default: _scatter(_aten.select_scatter.default, _aten.select.int),
    _aten.diagonal_scatter.default: _scatter(_aten.diagonal_scatter.default, _aten.diagonal.default),
}


_NAMES = "addmm baddbmm bmm cat embedding gather mm permute reshape split_with_sizes t unsqueeze"
BINDINGS: dict[Any, Callable[..., Any]] = {
    **{getattr(_aten, name).default: getattr(torch, name) for name in _NAMES.split()},
    _aten.expand.default: torch.Tensor.expand,
    _aten.select.int: torch.select,
    _aten.squeeze.dim: torch.squeeze,
    _aten.transpose.int: torch.transpose,
}
"""PyTorch's own bindings of what programs call most. An `OpOverload` takes 2 us longer to
convert its arguments, as much as a small region takes."""


@cache
def view_function(name: str, grad_mode: bool | None) -> Callable[..., Any]:
    """The view function `name`, called in autograd's mode `grad_mode`."""
    function = overload(name)
    if grad_mode is None:
        return function

    def view(*arguments):
        with torch.set_grad_enabled(grad_mode):
            return function(*arguments)

    return view
