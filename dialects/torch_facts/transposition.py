"""Views that reorder dimensions; those of large tensors among them that a region copies by blocks."""

from torch_mlir import ir

from dovetail.dialects.torch_facts import strides
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info, tensor_info

_REORDER = (strides.permute, strides.transpose, strides.reverse)
_TYPES = {"cpu": ("float32", "float64"), "cuda": ("float32", "float64", "bfloat16", "float16")}
"""By type of device: a CPU's blocks are written for these, a GPU's go through the memory that threads share."""

SMALLEST = 1 << 16
"""Elements from which blocks pay: at 2**20, 0.3 ms against 3 of one element at a time, and 2 of ATen's copy."""

_FEWEST = 16
"""Rows and columns of a block."""

_SHARED = 32
"""The same of a GPU. Where it divides not both, a thread reads one element; ATen copies those of two bytes better."""


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


def is_transposition(op: ir.Operation, device: str = "cpu") -> bool:
    """Whether `op` reorders a large tensor so that neighbours in rows are none any more, but others many.

    A size that is open may be large: one copy too many costs less than one element at a time.
    """
    order = reordered(op)
    if order is None:
        return False
    info = require_shaped_info(op.results[0].type)
    known = tensor_info(op.results[0].type)
    if (known is not None and known.numel < SMALLEST) or info.dtype not in _TYPES[device]:
        return False
    turned = order.index(len(order) - 1)
    sides = [size for size in (info.shape[turned], info.shape[-1]) if size is not None]
    is_whole = info.itemsize > 2 or (known is not None and not any(size % _SHARED for size in sides))
    return turned != len(order) - 1 and is_whole and all(size >= _FEWEST for size in sides)
