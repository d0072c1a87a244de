"""What `verify-level` asks of each function: sound refs, a body of one block, and a calling convention that fits."""

from torch_mlir.dialects import func

from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import Role, role, symbol
from dovetail.dialects.subclasses import convention
from dovetail.passes.base import fail


def check_signature(function_op: func.FuncOp, pass_name: str) -> None:
    """Raises PassError for a function that no caller could call, or that has no body or several blocks."""
    try:
        convention(function_op)
    except ValueError as error:
        raise fail(function_op, pass_name, str(error)) from error
    name, is_compiled = symbol(function_op), role(function_op) is Role.REGION
    for type_ in dict.fromkeys([*function_op.type.inputs, *function_op.type.results]):
        if not isinstance(type_, RefType):
            continue
        if not type_.is_sound:
            raise fail(function_op, pass_name, f"'@{name}' expects {RefType.SOUND}, got '{type_}'")
        if is_compiled:
            raise fail(function_op, pass_name, f"'@{name}' is a region, it expects values and memory, got '{type_}'")
    blocks = len(function_op.body.blocks)
    if blocks != 1 and not (role(function_op) is Role.BORDER or role(function_op) is Role.GUARD):
        raise fail(function_op, pass_name, f"'@{name}' expects a body of one block, got {blocks} blocks")
