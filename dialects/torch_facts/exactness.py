"""What is known of torch ops down to the last bit: which depend on it, which keep it, and which compute it anew.

Compiled twice, by IREE in two fusions or by IREE and by ATen, most floating-point arithmetic differs in the last bit:
products are fused with the sums that use them, transcendental functions are approximated per target, sums are added in
another order.
"""

from torch_mlir import ir

from dovetail.dialects.torch_facts.ops import aten_name, row
from dovetail.dialects.torch_facts.row import Rounding
from dovetail.dialects.torch_facts.types import TensorInfo, is_torch_type, tensor_info

# In half precision, how often a number is rounded depends on what its computation is fused with.
_SINGLE = ("float32", "float64")


def deciding_operands(op: ir.Operation) -> tuple[ir.Value, ...]:
    """The operands whose last bit can change the result of `op` by more than that; () for an op of none.

    Comparisons, rounding, indices, orders, and whatever else makes whole numbers or truth values of numbers.
    """
    places, operands = row(op).decides_by, list(op.operands)
    if places is None:
        chosen = operands if any(not _is_inexact(info) for info in _results(op)) else []
    else:
        chosen = [value for place, value in enumerate(operands) if place in places]
    return tuple(value for value in chosen if is_number(value))


def is_number(value: ir.Value) -> bool:
    """Whether `value` is a tensor of numbers, or a list: no Python value, and no truth values."""
    info = tensor_info(value.type)
    return info.dtype != "bool" if info is not None else is_torch_type(value.type, "list<vtensor>")


def is_repeatable(op: ir.Operation) -> bool:
    """Whether `op` gives the same bits for the same operands, wherever and beside whatever it is computed.

    A product alone would, but not together with a sum that uses it.
    """
    rounding, infos = row(op).rounding, _results(op)
    if rounding is Rounding.NEVER or aten_name(op) is None or not any(map(_is_inexact, infos)):
        return True
    return rounding is Rounding.ONCE and all(info.dtype in _SINGLE for info in infos)


def _results(op: ir.Operation) -> list[TensorInfo]:
    return [info for value in op.results if (info := tensor_info(value.type)) is not None]


def _is_inexact(info: TensorInfo) -> bool:
    return info.dtype.startswith(("float", "bfloat", "complex"))
