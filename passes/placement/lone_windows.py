"""Windows that are alone and end before their dimension does: IREE 3.13 reads on to the dimension's end, silently."""

from torch_mlir import ir

from dovetail.dialects.torch_facts.expected import expected_info
from dovetail.dialects.torch_facts.ops import row


def is_lone_window(op: ir.Operation) -> bool:
    """Whether `op` unfolds a dimension to one window, of not all its elements, as far as is known."""
    if row(op).name != "unfold":
        return False
    source, windows = expected_info(op.operands[0]), expected_info(op.results[0])
    if source is None or windows is None:
        return True
    *counts, size = windows.shape
    return any(count == 1 and length not in (1, size) for length, count in zip(source.shape, counts, strict=False))
