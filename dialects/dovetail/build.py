"""Numbers as attributes."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.dovetail.types import OPEN


def i64(value: int) -> ir.IntegerAttr:
    """A number as an attribute of 64 bits."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def open_numbers(numbers: Sequence) -> tuple[list[int], list[ir.Value]]:
    """Numbers for an attribute or a type, in which those that are values of the IR are open; and these values."""
    stated = [OPEN if isinstance(number, ir.Value) else number for number in numbers]
    return stated, [number for number in numbers if isinstance(number, ir.Value)]


def i64_array(values: Sequence[int]) -> ir.ArrayAttr:
    """`[1, 2]` as an attribute."""
    return ir.ArrayAttr.get([i64(value) for value in values])
