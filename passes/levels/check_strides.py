"""What `verify-level` asks of ops that may see how their operands lie in memory: that they say how."""

from dovetail.dialects.operand_strides import broken_statement
from dovetail.dialects.reading import Module
from dovetail.passes.base import fail


def check_strides(module: Module, pass_name: str) -> None:
    """Raises PassError for an op that would be given whatever layout a kernel or a pass left."""
    for ops in module.bodies.values():
        for op in ops:
            broken = broken_statement(op) if op.name.startswith("torch.") else ""
            if broken:
                raise fail(op, pass_name, broken)
