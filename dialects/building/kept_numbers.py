"""Numbers beside floating-point tensors, in a form that torch-mlir computes with as ATen does."""

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reading import body
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.ops import Kind, row
from dovetail.dialects.torch_facts.types import shaped_info, torch_type


def keep_numbers(main: func.FuncOp) -> None:
    """Writes whole numbers beside floating-point tensors of `main` as floats, where that is exact.

    torch-mlir computes ops on constants, and takes a whole number's bits for those of a float or an unsigned one:
    `full(2.0) > 0` is false then, and `full(2.0) + -3` of bfloat16 is 2 ** 64, as is a negative factor `alpha`.
    """
    for op in body(main):
        info = shaped_info(op.operands[0].type) if row(op).kind is Kind.POINTWISE else None
        if info is None or not info.is_floating_point:
            continue
        for position in _positions(op):
            value = number(op.operands[position])
            if isinstance(value, int) and float(value) == value:
                with op.location, ir.InsertionPoint(op):
                    op.operands[position] = _constant(float(value))


def _positions(op: ir.Operation) -> Iterator[int]:
    """Where `op` takes a number that its elements meet; a factor that is not negative is taken for what it is."""
    if op.name.endswith(".Scalar"):
        yield 1
    if row(op).adds and len(op.operands) > 2 and (number(op.operands[2]) or 0) < 0:
        yield 2


def _constant(value: float) -> ir.Value:
    attributes = {"value": ir.FloatAttr.get(ir.F64Type.get(), value)}
    return ir.Operation.create("torch.constant.float", [torch_type("float")], attributes=attributes).result
