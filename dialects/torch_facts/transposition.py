"""Views that reorder dimensions; those of large tensors among them that a region copies by blocks."""

from torch_mlir import ir

from dovetail.dialects.torch_facts import strides
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info, tensor_info

_REORDER = (strides.permute, strides.transpose, strides.reverse)
_TYPES = ("float32", "float64")

SMALLEST = 1 << 16
"""Elements from which blocks pay: at 2**20, 0.3 ms against 3 of one element at a time, and 2 of ATen's copy."""

_FEWEST = 16
"""Rows and columns of a block."""


def reorders(op: ir.Operation) -> bool:
    """Whether `op` is a view that shows the dimensions of its operand in another order."""
    return row(op).strides in _REORDER


def reordered(op: ir.Operation) -> Sizes | None:
    """Of a view that reorders dimensions, the operand's dimension for each of the result's; None of any other op."""
    rule = row(op).strides
    if rule is None or not reorders(op):
        return None
    source, result = shaped_info(op.operands[0].type), shaped_info(op.results[0].type)
    if source is None or result is None:
        return None
    # Who counts dimensions where the operand's strides should be gets them in the result's order; sizes count nothing.
    order = tuple(range(len(source.shape)))
    return rule(op, order, order, order)


def is_transposition(op: ir.Operation) -> bool:
    """Whether `op` reorders a large tensor so that neighbours in rows are none any more, but others many.

    A size that is open may be large: one copy too many costs less than one element at a time.
    """
    order = reordered(op)
    if order is None:
        return False
    info = require_shaped_info(op.results[0].type)
    known = tensor_info(op.results[0].type)
    if (known is not None and known.numel < SMALLEST) or info.dtype not in _TYPES:
        return False
    turned = order.index(len(order) - 1)
    sides = [size for size in (info.shape[turned], info.shape[-1]) if size is not None]
    return turned != len(order) - 1 and all(size >= _FEWEST for size in sides)
