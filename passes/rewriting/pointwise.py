"""Pointwise ops that passes compute of other elements: in another order, or of fewer."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.ops import Kind, is_constant, row


def pointwise_op(value: ir.Value) -> ir.Operation | None:
    """The op that computes each element of `value` from one of each operand, wherever it stands; None if none does."""
    op = producer(value)
    if op is None or op.name == "torch.operator" or len(op.results) != 1:
        return None
    facts = row(op)
    return op if facts.kind is Kind.POINTWISE and not facts.is_by_place else None


def is_same_for_all(value: ir.Value) -> bool:
    """Whether `value` is a number or the like that the IR states, which each element meets."""
    made = producer(value)
    return made is not None and is_constant(made)


def of_others(op: ir.Operation, operands: Sequence[ir.Value], result: ir.Type) -> ir.Value:
    """Builds `op`, one of one result, on other operands at the current insertion point."""
    named = {name: op.attributes[name] for name in op.attributes}
    made = ir.Operation.create(op.name, results=[result], operands=list(operands), attributes=named, loc=op.location)
    return made.result
