"""What ops say of being computed once or again, in `dovetail.recompute` and `dovetail.pinned`.

`dovetail.recompute` on ops of `@joint` is what the user's checkpointing says of their results, in the words of
`torch.utils.checkpoint.CheckpointPolicy`. The pass `partition` obeys them. The pass `pin-compared-values` says
`dovetail.pinned`: the result is computed once, and whoever uses it reads that memory. `partition` never computes such
an op again, and `outline-regions` ends a region with it: what a region computes along the way, IREE may compute once
for each use.
"""

from torch_mlir import ir

from dovetail.dialects.attributes import PINNED, RECOMPUTE

RECOMPUTED_POLICIES = ("must_recompute", "prefer_recompute")
SAVED_POLICIES = ("must_save", "prefer_save")


def recompute_policy(op: ir.Operation) -> str | None:
    """The policy that `op` carries, None where the user leaves it to the compiler."""
    return ir.StringAttr(op.attributes[RECOMPUTE]).value if RECOMPUTE in op.attributes else None


def is_pinned(op: ir.Operation) -> bool:
    """Whether the results of `op` are computed once."""
    return PINNED in op.attributes


def pin(op: ir.Operation) -> None:
    """Has the results of `op` computed once."""
    op.attributes[PINNED] = ir.UnitAttr.get(op.context)
