"""Has an op of a region's text go by other numbers than those of an operand, element by element."""

from collections.abc import Callable

from torch_mlir import ir

from dovetail.backends.elementary.loop import element_type, from_builtin, loop, to_builtin
from dovetail.backends.elementary.scalar import Scalar
from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.types import require_shaped_info


def go_through(op: ir.Operation, function: Callable[[Scalar], Scalar], index: int = 0) -> None:
    """Has `op` take `function` of each number of the operand at `index`: the number that it should be."""
    operand = op.operands[index]
    info = require_shaped_info(operand.type)
    with op.location, ir.InsertionPoint(op):
        [same] = loop(to_builtin(operand), info, element_type(info), function)
        op.operands[index] = from_builtin(same, operand.type)


def behind_views(value: ir.Value) -> ir.Operation | None:
    """The op that computes what `value` is, or is a view of; None for an argument."""
    made = producer(value)
    while made is not None and kind(made) is Kind.VIEW:
        made = producer(made.operands[0])
    return made
