"""What `verify-level` asks of `dovetail.recompute`: one of the policies, on torch ops of `@joint` alone."""

from torch_mlir import ir

from dovetail.dialects.recompute import RECOMPUTE, RECOMPUTED, SAVED
from dovetail.passes.base import fail
from dovetail.passes.rewriting import body, functions


def check_recompute(module: ir.Module, pass_name: str) -> None:
    """Raises PassError for a policy that no pass would obey: misspelt, or where nothing is partitioned any more."""
    for name, function_op in functions(module).items():
        for op in body(function_op) if not function_op.is_external else ():
            if RECOMPUTE not in op.attributes:
                continue
            if name != "joint" or not op.name.startswith("torch."):
                raise fail(op, pass_name, f"in '@{name}' expects no '{RECOMPUTE}', which is for torch ops of '@joint'")
            attribute = op.attributes[RECOMPUTE]
            if not isinstance(attribute, ir.StringAttr) or attribute.value not in (*RECOMPUTED, *SAVED):
                valid = ", ".join(f'"{word}"' for word in (*RECOMPUTED, *SAVED))
                raise fail(op, pass_name, f"expects '{RECOMPUTE}' to be one of {valid}, got {attribute}")
