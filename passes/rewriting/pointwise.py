"""Pointwise ops that passes compute of other elements, in another order, or of fewer."""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from dovetail.dialects.attributes import SIZES
from dovetail.dialects.reading import producer
from dovetail.dialects.sizes.symbols import KnownSize, known_sizes, sizes_map
from dovetail.dialects.torch_facts.ops import Kind, is_constant, row
from dovetail.dialects.torch_facts.types import is_open_type, shaped_info
from dovetail.passes.rewriting.constants import is_none


def pointwise_op(value: ir.Value) -> ir.Operation | None:
    """The op that computes each element of `value` from one of each operand, wherever it stands; None if none does."""
    op = producer(value)
    if op is None or op.name == "torch.operator" or len(op.results) != 1:
        return None
    facts = row(op)
    return op if facts.kind is Kind.POINTWISE and (not facts.is_by_position or converts(op)) else None


def converts(op: ir.Operation) -> bool:
    """Whether `op` does nothing but to convert elements: it names neither a device nor a memory format."""
    return op.name == "torch.aten._to_copy" and is_none(op.operands[3]) and is_none(op.operands[6])


def op_of_elements(
    value: ir.Value, sizes: Sequence[KnownSize], may_meet: Callable[[ir.Value], bool]
) -> ir.Operation | None:
    """The op that computes each element of `value` of one from each operand of `sizes`; None if none does.

    Its other operands are what the IR states, such as numbers, and smaller tensors, all of which it `may_meet`.
    """
    op = pointwise_op(value)
    for each in () if op is None else op.operands:
        made = producer(each)
        is_stated = made is not None and is_constant(made)
        if not (is_whole(each, sizes) or (may_meet(each) if shaped_info(each.type) is not None else is_stated)):
            return None
    return op


def is_whole(value: ir.Value, sizes: Sequence[KnownSize]) -> bool:
    """Whether `value` is surely a tensor of `sizes`."""
    return shaped_info(value.type) is not None and known_sizes(value) == tuple(sizes)


def of_others(op: ir.Operation, operands: Sequence[ir.Value], result: ir.Type, sizes: Sequence[KnownSize]) -> ir.Value:
    """Builds `op`, one of one result, on other operands at the current insertion point; the result has `sizes`."""
    named = {name: op.attributes[name] for name in op.attributes if name != SIZES}
    made = ir.Operation.create(op.name, results=[result], operands=list(operands), attributes=named, loc=op.location)
    return with_known_sizes(made.result, sizes)


def with_known_sizes(made: ir.Value, sizes: Sequence[KnownSize]) -> ir.Value:
    """Says of `made`, the one result of an op, that it has `sizes`, if its type leaves some open; returns it."""
    if is_open_type(made.type):
        made.owner.attributes[SIZES] = ir.ArrayAttr.get([sizes_map(sizes)])
    return made
