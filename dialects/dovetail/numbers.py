"""Numbers of launches: written out, or values that follow from sizes."""

from collections.abc import Iterable
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import arith

from dovetail.dialects.dovetail.types import OPEN

Number: TypeAlias = int | ir.Value
"""A number, or the value of type `index` that it is when the program runs."""

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge")
"""How `arith.cmpi` compares, in the order of MLIR's numbers."""


def filled(stated: Iterable[int], values: Iterable[ir.Value]) -> list[Number]:
    """Numbers of an attribute, the open ones of which are `values`, in order."""
    given = iter(values)
    return [next(given) if number == OPEN else number for number in stated]


def value(number: Number) -> ir.Value:
    """The operand that is `number`."""
    return arith.ConstantOp(ir.IndexType.get(), number).result if isinstance(number, int) else number
