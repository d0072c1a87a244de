"""Views of large tensors whose neighbours lie apart, which a loop reads one element at a time. ATen copies them better.

Transpositions of what lies in rows are none: regions have code of their own for them.
"""

from torch_mlir import ir

from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.ops import Kind, row
from dovetail.dialects.torch_facts.sizes import row_major
from dovetail.dialects.torch_facts.transposition import SMALLEST, is_transposition
from dovetail.dialects.torch_facts.types import tensor_info


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
    return bool(steps) and steps[-1] > 1
