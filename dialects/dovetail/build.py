"""Building ops whose attributes may be falsy.

The generated constructors take `false`, 0 and `[]` for a missing attribute, so such ops are made from their parts.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from torch_mlir import ir

from dovetail.dialects.dovetail.types import OPEN


def create(
    op: type[ir.OpView], operands: Sequence, attributes: Mapping[str, ir.Attribute], results: Sequence[ir.Type]
) -> Any:
    """Creates an `op` (a class of the dialect) at the current insertion point and location."""
    made = ir.Operation.create(
        op.OPERATION_NAME, results=list(results), operands=list(operands), attributes=dict(attributes)
    )
    return made.opview


def i64(value: int) -> ir.IntegerAttr:
    """A number as an attribute of 64 bits."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def open_numbers(numbers: Sequence) -> tuple[list[int], list[ir.Value]]:
    """Numbers for an attribute or a type, in which those that are values of the IR are open; and these values."""
    stated = [OPEN if isinstance(each, ir.Value) else each for each in numbers]
    return stated, [each for each in numbers if isinstance(each, ir.Value)]


def i64_array(values: Sequence[int]) -> ir.ArrayAttr:
    """`[1, 2]` as an attribute."""
    return ir.ArrayAttr.get([i64(value) for value in values])
