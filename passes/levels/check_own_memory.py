"""What `verify-level` asks of what the host functions hand out: memory that nothing else has."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import OwnOp
from dovetail.dialects.torch_facts.types import is_value_type
from dovetail.passes.base import fail
from dovetail.passes.rewriting.cloning import of_class
from dovetail.passes.rewriting.own_memory import shared_memory


def check_own_memory(
    functions: Mapping[str, func.FuncOp], bodies: Mapping[str, Sequence[ir.Operation]], pass_name: str
) -> None:
    """Raises PassError for an owned result or a gradient that shares its memory.

    `bodies` are the operations of each function, by symbol name. Asked from level `program` on: before, only values
    are said, and `plan-epilogue` puts a copy where one is needed.
    """
    taken: set[ir.Value] = set()
    for op in of_class(bodies.get("forward", ()), OwnOp):
        _check(op, 0, taken, "what it owns", pass_name)
    if "backward" in functions:
        _check_gradients(functions["backward"], bodies["backward"][-1], pass_name)


def _check_gradients(backward: func.FuncOp, returned: ir.Operation, pass_name: str) -> None:
    taken: set[ir.Value] = set(backward.body.blocks[0].arguments)
    for index, value in enumerate(returned.operands):
        if is_value_type(value.type):
            _check(returned, index, taken, f"gradient {index}", pass_name)


def _check(op: ir.Operation, index: int, taken: set[ir.Value], what: str, pass_name: str) -> None:
    shared = shared_memory(op.operands[index], taken)
    if shared:
        raise fail(op, pass_name, f"expects {what} in memory of its own, such as a 'dovetail.copy', got {shared}")
