"""What is known of torch ops down to the last bit: which depend on it, which keep it, and which compute it anew.

Compiled twice, by IREE in two fusions or by IREE and by ATen, most floating-point arithmetic differs in the last bit:
products are fused with the sums that use them, transcendental functions are approximated per target, sums are added in
another order.
"""

from torch_mlir import ir

from dovetail.dialects.torch_facts.ops import aten_name, row
from dovetail.dialects.torch_facts.row import Counts, Rounding
from dovetail.dialects.torch_facts.types import ShapedInfo, is_torch_type, shaped_info, tensor_info

# What adds up counts, which half precision can't hold.
_SINGLE = ("float32", "float64")
# Up to which float32 holds every whole number.
_COUNTED = 1 << 24


def deciding_operands(op: ir.Operation) -> tuple[int, ...]:
    """The positions of the operands whose last bit can change the result of `op` by more than that; () where none can.

    Comparisons, rounding, indices, orders, and whatever else makes whole numbers or truth values of numbers.
    """
    indices = row(op).decides_by
    if indices == () or (indices is None and all(map(_is_inexact, _results(op)))):
        return ()
    numbers = [index for index, value in enumerate(op.operands) if is_number(value.type)]
    return tuple(index for index in numbers if indices is None or index in indices)


def is_number(type_: ir.Type) -> bool:
    """Whether `type_` is that of tensors of numbers, or of lists: of no Python values, and no truth values."""
    info = shaped_info(type_)
    return info.dtype != "bool" if info is not None else is_torch_type(type_, "list<vtensor>")


def is_repeatable(op: ir.Operation) -> bool:
    """Whether `op` gives the same bits for the same operands, wherever and beside whatever it is computed.

    A product alone would, but not together with a sum that uses it.
    """
    rounding = row(op).rounding
    if rounding is Rounding.NEVER or aten_name(op) is None:
        return True
    return rounding is Rounding.ONCE or not any(map(_is_inexact, _results(op)))


def count_by(op: ir.Operation, counted: int) -> int:
    """How many truth values an element of the result of `op` counts at most in floating point; 0 of what is no count.

    `counted` says so of its first operand. Counts are whole, so that no order of adding them up rounds one.
    """
    how = row(op).counts
    if how is Counts.NOT or (not counted and how is not Counts.MADE):
        return 0
    source, result = tensor_info(op.operands[0].type), tensor_info(op.results[0].type)
    if source is None or result is None or result.dtype not in _SINGLE:
        return 0
    if how is Counts.ADDED:
        most = counted * source.numel // max(result.numel, 1)
        return most if most <= _COUNTED else 0
    return 1 if how is Counts.MADE and source.dtype == "bool" else counted


def _results(op: ir.Operation) -> list[ShapedInfo]:
    return [info for value in op.results if (info := shaped_info(value.type)) is not None]


def _is_inexact(info: ShapedInfo) -> bool:
    return info.is_floating_point or info.is_complex
