"""Which ops can tell a subnormal number from zero.

IREE's runtime sets the processor to take subnormal numbers for zero, arguments and results alike. An op *can tell* if
its function jumps at zero or is infinitely steep there: then a number below 1.2e-38 makes another result than zero
does, however small the number. All others change by about as little as the number itself, or by its product with
another operand.
"""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reading import body
from dovetail.dialects.torch_facts.ops import aten_name, row
from dovetail.dialects.torch_facts.types import tensor_info


def telling_op(region: func.FuncOp) -> str:
    """The first op of `region` that can tell, by its ATen name; "" if none can."""
    return next((aten_name(op) or "" for op in body(region) if can_tell(op)), "")


def can_tell(op: ir.Operation) -> bool:
    """Whether the torch op `op` can tell a subnormal operand from zero."""
    infos = [tensor_info(value.type) for value in op.operands]
    if aten_name(op) is None or not any(info is not None and info.is_floating_point for info in infos):
        return False
    results = [tensor_info(value.type) for value in op.results]
    # A truth value, or an index, of a number: comparisons by any name, casts, the positions of extremes.
    makes_choices = any(info is not None and not info.is_floating_point for info in results)
    return makes_choices or row(op).tells_subnormals
