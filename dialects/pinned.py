"""`dovetail.pinned` on a torch op: its result is computed once, and whoever uses it reads that memory.

The pass `pin-compared-values` says so. `partition` never computes a pinned op again, and `outline-regions` ends a
region with it: what a region computes along the way, IREE may compute once for each use.
"""

from torch_mlir import ir

from dovetail.dialects.attributes import PINNED


def is_pinned(op: ir.Operation) -> bool:
    """Whether the results of `op` are computed once."""
    return PINNED in op.attributes


def pin(op: ir.Operation) -> None:
    """Has the results of `op` computed once."""
    op.attributes[PINNED] = ir.UnitAttr.get(op.context)
