"""Kernels in Python, by which PyTorch takes a few ops apart before autograd or a table of decompositions sees them.

And those of ours: for gradients of extrema, and for interpolation and recurrent networks so that sizes stay open, of
which kernels in C++ ask for numbers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial

import torch
from torch._C import DispatchKey
from torch._decomp import decomposition_table, meta_table
from torch._decomp.decompositions import upsample_compute_output_size
from torch._dispatch.python import enable_python_dispatcher
from torch._ops import OperatorBase, OpOverload
from torch._prims_common import suggest_memory_format

from dovetail.frontend.decompose.extremum_gradients import extremum_gradients
from dovetail.frontend.decompose.recurrent_layers import recurrent_layers
from dovetail.frontend.decompose.table import decided
from dovetail.frontend.dynamo.open_sizes import is_open_value, sizes_in

_aten = torch.ops.aten
_PARTS = DispatchKey.CompositeImplicitAutograd
_ASKING = ("interpolate", "upsample", "lstm", "gru", "rnn_tanh", "rnn_relu")


@contextmanager
def without_python_kernels(overloads: Iterable[OpOverload]) -> Iterator[None]:
    """While it is open, tracing meets these overloads as eager does: autograd's formula, then the table's entry."""
    own = _interpolation() | {overload: {_PARTS: parts} for overload, parts in recurrent_layers().items()}
    own |= {overload: {DispatchKey.Autograd: kernel} for overload, kernel in extremum_gradients().items()}
    before = {overload: dict(overload.py_kernels) for overload in (*overloads, *own)}
    # What this table has is not described by its parts, which lay images out otherwise than a GPU's kernels do.
    described: dict[OperatorBase, Callable] = {
        each: kernels[DispatchKey.Meta]
        for each, kernels in own.items()
        if DispatchKey.Meta in kernels and each not in meta_table
    }
    meta_table.update(described)
    for overload, kernels in before.items():
        left = {key: kernel for key, kernel in kernels.items() if key not in (DispatchKey.Autograd, _PARTS)}
        _set_kernels(overload, left | own.get(overload, {}))
    try:
        yield
    finally:
        for each in described:
            del meta_table[each]
        for overload, kernels in before.items():
            _set_kernels(overload, kernels)


@contextmanager
def with_open_sizes(node: torch.fx.Node, given: Sequence) -> Iterator[None]:
    """While it is open, `node` may be run as eager runs it. What its kernel in C++ would ask of `given` stays open."""
    name = getattr(node.target, "__name__", "")
    has_open = any(is_open_value(size) for value in given for size in sizes_in(value))
    if not has_open or not any(part in name for part in _ASKING):
        yield
        return
    with without_python_kernels(decided()), enable_python_dispatcher():
        yield


def _set_kernels(overload: OpOverload, kernels: Mapping[DispatchKey, Callable]) -> None:
    overload.py_kernels.clear()
    overload.py_kernels.update(kernels)
    overload._dispatch_cache.clear()


@cache
def _interpolation() -> dict[OpOverload, dict[DispatchKey, Callable]]:
    """Of the overloads by sizes or factors, the parts; of others and gradients, what they make, if PyTorch lacks it."""
    told = [each for each in decomposition_table if isinstance(each, OpOverload) and each._overloadname == "vec"]
    packets = [overload.overloadpacket for overload in (*told, _aten.upsample_linear1d.vec)]
    gradients = [getattr(_aten, f"{packet.__name__}_backward").default for packet in packets]
    parts: dict[OpOverload, dict[DispatchKey, Callable]]
    parts = {packet.vec: {_PARTS: partial(_by_sizes, packet.default)} for packet in packets}
    made: dict[OpOverload, dict[DispatchKey, Callable]]
    made = {each: {DispatchKey.Meta: partial(_gradient, each)} for each in gradients if each not in meta_table}
    made |= {
        packet.default: {DispatchKey.Meta: _interpolated} for packet in packets if packet.default not in meta_table
    }
    return parts | made


def _by_sizes(interpolate: OpOverload, value: torch.Tensor, sizes: Sequence | None, *given) -> torch.Tensor:
    *options, factors = given
    computed = upsample_compute_output_size(value.size(), sizes, factors)
    return interpolate(value, computed, *options, *(factors or [None] * len(computed)))


def _interpolated(value: torch.Tensor, sizes: Sequence, *_) -> torch.Tensor:
    made, lying = (*value.size()[:2], *sizes), suggest_memory_format(value)
    return torch.empty(made, dtype=value.dtype, device=value.device, memory_format=lying)


def _gradient(op: OpOverload, value: torch.Tensor, _, sizes: Sequence, *__) -> torch.Tensor:
    keeps_format = op in (_aten.upsample_bilinear2d_backward.default, _aten.upsample_trilinear3d_backward.default)
    lying = suggest_memory_format(value) if keeps_format else torch.contiguous_format
    return torch.empty(sizes, dtype=value.dtype, device=value.device, memory_format=lying)
