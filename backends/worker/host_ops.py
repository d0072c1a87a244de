"""Questions to the ops of a host program, and the answer that there is no plan."""

from iree.compiler import ir

from dovetail.backends.worker.walk import producer


class Unreadable(Exception):
    """Why a function has no plan."""


def made_by(value: ir.Value, name: str) -> ir.Operation:
    """The op that `value` is the result of; raises Unreadable if that is no `name`."""
    op = producer(value)
    if op is None or op.name != name:
        raise Unreadable(f"expected the result of '{name}', got {value}")
    return op


def number(value: ir.Value) -> int:
    """A number that is written out."""
    return ir.IntegerAttr(made_by(value, "arith.constant").attributes["value"]).value


def check_known(ops: list[ir.Operation], known: frozenset[str]) -> None:
    """Raises Unreadable for ops with other names than those `known`."""
    unknown = sorted({op.name for op in ops} - known)
    if unknown:
        raise Unreadable(f"nothing is known of {', '.join(unknown)}")


def ops_in(op: ir.Operation) -> list[ir.Operation]:
    """The ops in all blocks of `op`."""
    return [view.operation for block in op.regions[0].blocks for view in block.operations]


def segments(op: ir.Operation) -> list[list[ir.Value]]:
    """The operands by what they are for, of an op that takes several lists of them."""
    operands = iter(op.operands)
    sizes = ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])
    return [[next(operands) for _ in range(size)] for size in sizes]


def symbol(op: ir.Operation, name: str) -> str:
    """The symbol that attribute `name` of `op` refers to."""
    return ir.FlatSymbolRefAttr(op.attributes[name]).value
