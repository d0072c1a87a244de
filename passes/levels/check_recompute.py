"""What `verify-level` asks of `dovetail.recompute`: one of the policies, on torch ops of `@joint` alone."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir

from dovetail.dialects.attributes import RECOMPUTE
from dovetail.dialects.recompute import RECOMPUTED_POLICIES, SAVED_POLICIES
from dovetail.passes.base import fail

_POLICIES = (*RECOMPUTED_POLICIES, *SAVED_POLICIES)


def check_recompute(bodies: Mapping[str, Sequence[ir.Operation]], pass_name: str) -> None:
    """Raises PassError for a policy that no pass would obey: misspelt, or where nothing is partitioned any more.

    `bodies` are the operations of each function, by symbol name.
    """
    for name, ops in bodies.items():
        for op in ops:
            if RECOMPUTE not in op.attributes:
                continue
            if name != "joint" or not op.name.startswith("torch."):
                raise fail(op, pass_name, f"in '@{name}' expects no '{RECOMPUTE}', which is for torch ops of '@joint'")
            attribute = op.attributes[RECOMPUTE]
            if not isinstance(attribute, ir.StringAttr) or attribute.value not in _POLICIES:
                valid = ", ".join(f'"{word}"' for word in _POLICIES)
                raise fail(op, pass_name, f"expects '{RECOMPUTE}' to be one of {valid}, got {attribute}")
