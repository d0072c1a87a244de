"""What `verify-level` asks of ops that may see how their operands lie in memory: that they say how."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir

from dovetail.dialects.operand_strides import broken_statement
from dovetail.passes.base import fail


def check_strides(bodies: Mapping[str, Sequence[ir.Operation]], pass_name: str) -> None:
    """Raises PassError for an op that would be given whatever layout a kernel or a pass left.

    `bodies` are the operations of each function, by symbol name.
    """
    for ops in bodies.values():
        for op in ops:
            broken = broken_statement(op) if op.name.startswith("torch.") else ""
            if broken:
                raise fail(op, pass_name, broken)
