"""Views of large tensors whose neighbours lie apart, which a loop reads one element at a time. ATen copies them better.

Transpositions of what lies in rows are none, and no views that turn few elements: regions read these by themselves.
"""

from collections.abc import Sequence
from itertools import takewhile
from math import prod

from torch_mlir import ir

from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.ops import Kind, row
from dovetail.dialects.torch_facts.sizes import Sizes, row_major
from dovetail.dialects.torch_facts.transposition import SMALLEST, is_transposition, reordered
from dovetail.dialects.torch_facts.types import tensor_info

FEW = 64
"""Elements: a sector or line of memory holds 8 to 16, and one is read again before it leaves the cache."""


def is_scattered(op: ir.Operation, device: str = "cpu") -> bool:
    """Whether `op`, on a type of `device`, is a large view whose neighbours are none where its operand lies in rows."""
    facts = row(op)
    if facts.kind is not Kind.VIEW or facts.strides is None or not op.operands:
        return False
    # An argument in another order the host may show as it is wanted.
    read = made_by(op.operands[0], ReadOp.OPERATION_NAME)
    if is_transposition(op, device) and (read is None or read.operands[0].type.is_row_major):
        return False
    source, result = tensor_info(op.operands[0].type), tensor_info(op.results[0].type)
    if source is None or result is None or result.numel < SMALLEST:
        return False
    strides = facts.strides(op, source.shape, row_major(source.shape), result.shape)
    steps = [stride for size, stride in zip(result.shape, strides or (), strict=False) if size > 1]
    return bool(steps) and steps[-1] > 1 and not reorders_few(op)


def reorders_few(op: ir.Operation) -> bool:
    """Whether `op` is a view of what lies in rows that `turns_few`."""
    order, source = reordered(op), tensor_info(op.operands[0].type) if op.operands else None
    return order is not None and source is not None and turns_few(source.shape, order)


def turns_few(sizes: Sizes, order: Sequence[int]) -> bool:
    """Whether the caches have the neighbours of elements, of a tensor in rows that is shown in another `order`.

    So they do where a few elements trade places with many, as a filter's or an image's colours with its channels.
    """
    strides = row_major(sizes)
    large = [dim for dim in order if sizes[dim] > 1]
    behind = [sizes[dim] for dim in takewhile(lambda each: strides[each] != 1, reversed(large))]
    return bool(large) and min(strides[large[-1]], prod(behind)) <= FEW
