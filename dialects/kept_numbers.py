"""Numbers beside floating-point tensors, in a form that torch-mlir computes with as ATen does."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reading import body
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.types import shaped_info, torch_type


def keep_numbers(main: func.FuncOp) -> None:
    """Writes whole numbers beside floating-point tensors of `main` as floats, where that is exact.

    torch-mlir computes ops on constants, and takes a whole number's bits for those of a float or an unsigned one:
    `full(2.0) > 0` is false then, and `full(2.0) + -3` of bfloat16 is 2 ** 64.
    """
    for op in body(main):
        if not op.name.endswith(".Scalar") or kind(op) is not Kind.POINTWISE:
            continue
        info = shaped_info(op.operands[0].type)
        if info is None or not info.is_floating_point:
            continue
        value = number(op.operands[1])
        if isinstance(value, int) and float(value) == value:
            with op.location, ir.InsertionPoint(op):
                op.operands[1] = _constant(float(value))


def _constant(value: float) -> ir.Value:
    attributes = {"value": ir.FloatAttr.get(ir.F64Type.get(), value)}
    return ir.Operation.create("torch.constant.float", [torch_type("float")], attributes=attributes).result
