"""What `verify-level` asks of `dovetail.recompute`: one of the policies, on torch ops of `@joint` alone."""

from torch_mlir import ir

from dovetail.dialects.attributes import RECOMPUTE
from dovetail.dialects.reading import Module, Role, role
from dovetail.dialects.recompute import RECOMPUTED_POLICIES, SAVED_POLICIES
from dovetail.passes.base import fail

_POLICIES = (*RECOMPUTED_POLICIES, *SAVED_POLICIES)


def check_recompute(module: Module, pass_name: str) -> None:
    """Raises PassError for a policy that no pass would obey: misspelt, or where nothing is partitioned any more."""
    for name, ops in module.bodies.items():
        for op in ops:
            if RECOMPUTE not in op.attributes:
                continue
            if role(module.functions[name]) is not Role.JOINT or not op.name.startswith("torch."):
                raise fail(op, pass_name, f"in '@{name}' expects no '{RECOMPUTE}', which is for torch ops of '@joint'")
            attribute = op.attributes[RECOMPUTE]
            if not isinstance(attribute, ir.StringAttr) or attribute.value not in _POLICIES:
                valid = ", ".join(f'"{word}"' for word in _POLICIES)
                raise fail(op, pass_name, f"expects '{RECOMPUTE}' to be one of {valid}, got {attribute}")
