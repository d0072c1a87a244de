"""Rounds what was computed in bfloat16 before an op makes another type of it.

IREE computes bfloat16 in float32, and drops the conversions there and back within a loop.
"""

from torch_mlir import ir

from dovetail.backends.elementary.go_through import behind_views, go_through
from dovetail.backends.elementary.scalar import Scalar
from dovetail.dialects.torch_facts.types import shaped_info


def round_bfloat16(op: ir.Operation) -> None:
    """Has `op` take rounded numbers if it makes another type of what is computed here."""
    results = [shaped_info(value.type) for value in op.results]
    if not results or not all(info is not None and info.dtype != "bfloat16" for info in results):
        return
    for index, value in enumerate(op.operands):
        if _is_computed(value):
            go_through(op, rounded, index)


def _is_computed(value: ir.Value) -> bool:
    """Whether `value` is of bfloat16, and no argument or a view of one."""
    info = shaped_info(value.type)
    return info is not None and info.dtype == "bfloat16" and behind_views(value) is not None


def rounded(number: Scalar) -> Scalar:
    """A float32 number rounded to the nearest that bfloat16 holds, of two the even one; NaN as it is."""
    bits = number.bits
    nearest = bits.plus(bits.right(16).masked(1)).plus(0x7FFF).masked(-0x10000).as_float()
    return number.equals(number).if_true(nearest, number)
