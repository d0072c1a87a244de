"""Pass `raise-slices`: a region on a GPU slices what it computes from, not what it computed."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from torch_mlir import ir

from dovetail.dialects.building.cloning import erase_unused
from dovetail.dialects.reading import Module, body, producer
from dovetail.dialects.statements.recompute import is_pinned
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.exactness import is_repeatable
from dovetail.dialects.torch_facts.ops import Kind
from dovetail.dialects.torch_facts.reshapes import RESHAPES
from dovetail.dialects.torch_facts.types import is_open_type, is_tensor, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.exactness.value_flow import deciding_ops
from dovetail.passes.rewriting.constants import integers
from dovetail.passes.rewriting.permutations import PERMUTE
from dovetail.passes.rewriting.pointwise import converts, of_others, pointwise_op
from dovetail.passes.rewriting.rules import create, shape
from dovetail.passes.rewriting.slices import SLICE, Slice, slice_of
from dovetail.passes.rewriting.sums import with_sizes

_RESHAPE = "torch.aten.reshape"
_COMPUTED = (Kind.POINTWISE, Kind.VIEW, Kind.CONSTANT, Kind.CREATION)
_MOST_SLICES = 8
"""Of one value, each of which computes it anew."""


class _Taken(NamedTuple):
    """What one slice becomes: beside the ops that may decide something, the slices that it is computed of so far.

    Each is built once, so that what compares a value with itself goes on to do so.
    """

    decided: set[ir.Operation]
    built: dict[Slice, ir.Value]


class RaiseSlicesPass(Pass, name="raise-slices", runs_at="program"):
    """Takes slices of what pointwise ops and views of a region read, on a GPU, in place of slices of what they compute.

    IREE stores what is sliced, and reads it again. A slice of what lies in memory is only where a kernel reads. What is
    computed once stays so: what is pinned or may decide something, and what of which many slices are taken.

    Before:  `%1 = mul %x, %row; %2 = slice %1, 1, 0, 32` of `[8, 64]` and `[64]`
    After:   `%3 = slice %x, 1, 0, 32; %4 = slice %row, 0, 0, 32; %2 = mul %3, %4`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) != "cuda":
            return False
        slices = [op for region in Module(module).regions.values() for op in body(region) if op.name == SLICE]
        decided = deciding_ops(module) if slices else set()
        for op in slices:
            if not any(is_open_type(each.type) for each in (*op.operands, *op.results)):
                _raise(op, _Taken(decided, {}))
        return bool(slices)


def _raise(op: ir.Operation, taken: _Taken) -> None:
    found = slice_of(op.results[0])
    if found is None:
        return
    with op.location, ir.InsertionPoint(op):
        value = _sliced(found, taken)
    if value is None:
        return
    op.results[0].replace_all_uses_with(value)
    op.erase()
    erase_unused(found.base, _COMPUTED)


def _sliced(wanted: Slice, taken: _Taken) -> ir.Value | None:
    """`wanted`, computed of slices; None where it is one of what lies in memory, or is computed but once."""
    op = producer(wanted.base)
    if op is None or is_pinned(op) or len(list(wanted.base.uses)) > _MOST_SLICES:
        return None
    if (op in taken.decided and not is_repeatable(op)) or any(is_open_type(each.type) for each in op.operands):
        return None
    sizes = list(shape(wanted.base))
    sizes[wanted.dim] = wanted.count
    type_ = with_shape(wanted.base.type, sizes)
    if pointwise_op(wanted.base) is not None:
        operands = [_aligned(each, wanted, len(sizes), taken) for each in op.operands]
        return of_others(op, operands, type_, sizes)
    if op.name == PERMUTE and (order := integers(op.operands[1])) is not None:
        base = op.operands[0]
        inner = replace(wanted, base=base, dim=order[wanted.dim] % len(sizes))
        return create(PERMUTE, [_built(inner, taken), op.operands[1]], type_)
    if op.name == _RESHAPE or op.name in RESHAPES:
        return _reshaped(op.operands[0], wanted, sizes, taken)
    return None


def _built(wanted: Slice, taken: _Taken) -> ir.Value:
    if wanted not in taken.built:
        made = _sliced(wanted, taken)
        taken.built[wanted] = wanted.build() if made is None else made
    return taken.built[wanted]


def _aligned(operand: ir.Value, wanted: Slice, rank: int, taken: _Taken) -> ir.Value:
    """What a pointwise op takes for `operand`, of whose elements along the dimension it needs those `wanted`."""
    if not is_tensor(operand.type):
        return operand
    dim = wanted.dim - rank + len(shape(operand))
    if dim < 0 or shape(operand)[dim] == 1:
        return operand
    return _built(replace(wanted, base=operand, dim=dim), taken)


def _reshaped(base: ir.Value, wanted: Slice, sizes: Sequence[int], taken: _Taken) -> ir.Value | None:
    """A reshape of `base` that leaves the dimension as it is, of a slice of that; None of another one."""
    before, after, dim = shape(base), shape(wanted.base), wanted.dim
    behind = len(after) - dim
    if before[-behind:] == after[-behind:]:
        inner = len(before) - behind
    elif before[: dim + 1] == after[: dim + 1]:
        inner = dim
    else:
        return _converted(base, wanted, sizes, taken)
    source = _sliced(replace(wanted, base=base, dim=inner), taken)
    return None if source is None else with_sizes(source, sizes)


def _converted(base: ir.Value, wanted: Slice, sizes: Sequence[int], taken: _Taken) -> ir.Value | None:
    """Of a reshape that splits or joins the dimension of what is converted: the same of what that is converted from."""
    op = pointwise_op(base)
    if op is None or not converts(op) or is_pinned(op) or (op in taken.decided and not is_repeatable(op)):
        return None
    shown = with_sizes(op.operands[0], shape(wanted.base))
    operands = [_built(replace(wanted, base=shown), taken), *list(op.operands)[1:]]
    return of_others(op, operands, with_shape(base.type, sizes), sizes)
