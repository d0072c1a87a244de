"""The numbers of a launch plan that follow from sizes, as ops of its function."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import arith

from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.numbers import PREDICATES, Number, value
from dovetail.dialects.dovetail.ops.check_range import check_range
from dovetail.dialects.dovetail.ops.size import size

_OPS = (
    arith.AddIOp, arith.SubIOp, arith.MulIOp, arith.DivSIOp, arith.CeilDivSIOp, arith.MaxSIOp, arith.MinSIOp,
    arith.ShRUIOp, arith.SelectOp,
)  # fmt: skip
ARITHMETIC: Mapping[str, type[ir.OpView]] = {op.OPERATION_NAME.removeprefix("arith."): op for op in _OPS}
"""What may be computed of sizes, by the names that a plan's record has for it; and `cmpi`, by a predicate."""


def import_numbers(forms: Sequence[Sequence[Any]], arguments: Sequence[ir.Value]) -> list[ir.Value | None]:
    """Builds the ops for what `backends/worker/host_program.py` calls `values`; None for a check, which gives no value.

    Raises:
        ValueError: for a form that is none of these.
    """
    made: list[ir.Value | None] = []
    for name, *operands in forms:
        match name:
            case "number":
                made.append(size(arguments[operands[0]]).number)
            case "size":
                made.append(size(arguments[operands[0]], operands[1]).number)
            case "check_range":
                check_range(value(read_number(operands[0], made)), *operands[1:])
                made.append(None)
            case "cmpi":
                predicate, *compared = operands
                both = [value(read_number(number, made)) for number in compared]
                made.append(arith.CmpIOp(i64(PREDICATES.index(predicate)), *both).result)
            case _ if name in ARITHMETIC:
                given = [value(read_number(operand, made)) for operand in operands]
                made.append(ARITHMETIC[name](*given).result)
            case _:
                raise ValueError(f"a plan computes no '{name}'")
    return made


def read_number(number: int | str, made: Sequence[ir.Value | None]) -> Number:
    """A number of a plan's record: itself, or the value that "%2" means."""
    if isinstance(number, int):
        return number
    found = made[int(number.removeprefix("%"))]
    if found is None:
        raise ValueError(f"'{number}' is no number of a plan")
    return found
