"""Numbers of launches: written out, or values that follow from sizes."""

from collections.abc import Sequence
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import arith

Number: TypeAlias = int | ir.Value
"""A number, or the value of type `index` that it is when the program runs."""


def number(value: ir.Value) -> Number:
    """What an operand of type `index` is: the number, where it is a constant."""
    made = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if made is None or made.name != arith.ConstantOp.OPERATION_NAME:
        return value
    return ir.IntegerAttr(made.attributes["value"]).value


def value(number: Number) -> ir.Value:
    """The operand that is `number`."""
    return arith.ConstantOp(ir.IndexType.get(), number).result if isinstance(number, int) else number


def are_written_out(numbers: Sequence[Number]) -> bool:
    """Whether none of `numbers` is a value."""
    return all(isinstance(each, int) for each in numbers)
