"""Which writes one call of ATen's makes together: copies of whole numbers, as of a model's counters."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import IN_PLACE
from dovetail.dialects.dovetail import WriteOp
from dovetail.dialects.memory.aliases import are_apart
from dovetail.dialects.reading import made_by


def is_copied(op: ir.OpView) -> bool:
    """Whether `op` copies whole numbers, and moves the version by one."""
    if not isinstance(op, WriteOp) or IN_PLACE in op.attributes or op.mode_name != "no_grad" or op.version_count != 1:
        return False
    return op.ref.type.shaped.is_integer


def are_independent(function: func.FuncOp, writes: Sequence[WriteOp]) -> bool:
    """Whether the order of `writes` means nothing: each is to an argument that shares no memory with the others'.

    And each is of what a call returned, which is no argument's memory.
    """
    refs = [write.ref for write in writes]
    are_arguments = all(isinstance(ref.owner, ir.Block) for ref in refs)
    are_made = all(made_by(write.value, func.CallOp.OPERATION_NAME) for write in writes)
    return are_arguments and are_made and are_apart(function, refs)
