"""Pass `turn-earlier`: what library calls of a GPU take permuted is computed in that order."""

from torch_mlir import ir

from dovetail.dialects.attributes import SHOWS_ROWS
from dovetail.dialects.building.cloning import erase_unused
from dovetail.dialects.reading import Module, body, users
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.row import IN_REGIONS
from dovetail.dialects.torch_facts.sizes import Sizes, row_major
from dovetail.dialects.torch_facts.strides import reshape, reshaped
from dovetail.dialects.torch_facts.transposition import SMALLEST, reordered
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.permutations import keeps_order
from dovetail.passes.rewriting.turned import is_turnable, permutations, turned

_NO_CALLS = (Kind.CONSTANT, *IN_REGIONS)


class TurnEarlierPass(Pass, name="turn-earlier", runs_at="joint"):
    """Computes large pointwise results in the order in which a GPU's library calls take them.

    A product takes rows, of heads of attention that lie beside each other: what is permuted for it and can't be shown
    in its sizes would be stored twice, or copied by ATen; and the cut would save what is not permuted, to be copied
    again in the backward. Where one tensor is permuted instead of the result, regions read that as it lies.

    Before:  `%1 = _to_copy %x; %2 = permute %1, [0, 2, 1, 3]; %3 = view %2; mm %3, %w`
    After:   `%1 = permute %x, [0, 2, 1, 3]; %2 = _to_copy %1; %3 = view %2; mm %3, %w`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) != "cuda":
            return False
        found = [op for op in body(Module(module).joint) if _is_for_calls(op)]
        changed = [_turn(op) for op in found]
        return any(changed)


def _is_for_calls(op: ir.Operation) -> bool:
    """Whether `op` permutes a large tensor of known sizes, which a library call takes as a copy in other sizes."""
    order, info = reordered(op), tensor_info(op.results[0].type) if len(op.results) == 1 else None
    if order is None or info is None or info.numel < SMALLEST or keeps_order(order) or SHOWS_ROWS in op.attributes:
        return False
    rows = row_major([info.shape[order.index(dim)] for dim in range(len(order))])
    strides = tuple(rows[dim] for dim in order)
    return any(_is_copied(user, info.shape, strides) and _meets_call(user) for user in users(op.results[0]))


def _is_copied(op: ir.Operation, shape: Sizes, strides: Sizes) -> bool:
    """Whether `op` gives a tensor of `shape` and `strides` other sizes, which no strides can."""
    result = tensor_info(op.results[0].type) if row(op).strides is reshape else None
    return result is not None and reshaped(shape, strides, result.shape) is None


def _meets_call(op: ir.Operation) -> bool:
    return any(
        _meets_call(user) if kind(user) is Kind.VIEW else kind(user) not in _NO_CALLS for user in users(*op.results)
    )


def _turn(op: ir.Operation) -> bool:
    value, order = op.operands[0], reordered(op)
    if order is None or not is_turnable(value):
        return False
    before, after = permutations(value, order)
    if after > before + 1:
        return False
    with op.location, ir.InsertionPoint(op):
        op.results[0].replace_all_uses_with(turned(value, order))
    op.erase()
    erase_unused(value, (Kind.POINTWISE, Kind.VIEW))
    return True
