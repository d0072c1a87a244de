"""`dovetail.recompute` on ops of `@joint`: what the user's checkpointing says of their results.

The words are those of `torch.utils.checkpoint.CheckpointPolicy`. The pass `partition` obeys them.
"""

from torch_mlir import ir

from dovetail.dialects.attributes import RECOMPUTE

RECOMPUTED_POLICIES = ("must_recompute", "prefer_recompute")
SAVED_POLICIES = ("must_save", "prefer_save")


def recompute_policy(op: ir.Operation) -> str | None:
    """The policy that `op` carries, None where the user leaves it to the compiler."""
    return ir.StringAttr(op.attributes[RECOMPUTE]).value if RECOMPUTE in op.attributes else None
