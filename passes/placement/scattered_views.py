"""Views of large tensors whose neighbours lie apart, which a loop reads one element at a time. ATen copies them better.

Transpositions of what lies in rows are none: regions have code of their own for them.
"""

from collections.abc import Sequence
from itertools import takewhile
from math import prod

from torch_mlir import ir

from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.ops import Kind, row
from dovetail.dialects.torch_facts.sizes import row_major
from dovetail.dialects.torch_facts.transposition import SMALLEST, is_transposition, reorders
from dovetail.dialects.torch_facts.types import tensor_info

FEW = 64
"""Elements: a sector of memory holds 8 to 16, and one is read again before it leaves the cache."""


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
    steps = [(size, stride) for size, stride in zip(result.shape, strides or (), strict=False) if size > 1]
    return bool(steps) and steps[-1][1] > 1 and not (device == "cuda" and reorders(op) and _turns_few(steps))


def _turns_few(steps: Sequence[tuple[int, int]]) -> bool:
    """Whether neighbours lie near enough for a GPU's caches to have them; `steps` are sizes and their strides.

    So they do where a few elements trade places with many, as a filter's or an image's colours with its channels.
    """
    behind = [size for size, _ in takewhile(lambda each: each[1] != 1, reversed(steps))]
    return min(steps[-1][1], prod(behind)) <= FEW
