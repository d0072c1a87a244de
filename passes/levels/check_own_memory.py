"""What `verify-level` asks of what the host functions hand out: memory that nothing else has."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import OwnOp
from dovetail.dialects.reading import Module, Role, of_class
from dovetail.dialects.torch_facts.types import is_value_type
from dovetail.passes.base import fail
from dovetail.passes.rewriting.own_memory import shared_memory


def check_own_memory(module: Module) -> None:
    """Raises PassError for an owned result or a gradient that shares its memory.

    Asked from level `program` on: before, only values
    are said, and `plan-epilogue` puts a copy where one is needed.
    """
    taken: set[ir.Value] = set()
    for forward in module.of(Role.FORWARD).values():
        for op in of_class(module.ops(forward), OwnOp):
            _check(op, 0, taken, "what it owns")
    if Role.BACKWARD in module:
        _check_gradients(module.backward, module.ops(module.backward)[-1])


def _check_gradients(backward: func.FuncOp, returned: ir.Operation) -> None:
    taken: set[ir.Value] = set(backward.body.blocks[0].arguments)
    for index, value in enumerate(returned.operands):
        if is_value_type(value.type):
            _check(returned, index, taken, f"gradient {index}")


def _check(op: ir.Operation, index: int, taken: set[ir.Value], what: str) -> None:
    shared = shared_memory(op.operands[index], taken)
    if shared:
        raise fail(op, f"expects {what} in memory of its own, such as a 'dovetail.copy', got {shared}")
