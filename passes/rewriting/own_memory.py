"""Whether what a host function hands out lies in memory of its own: a pass sees to it, a verifier checks it."""

from collections.abc import Iterator
from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.dovetail import OwnOp, RefType
from dovetail.dialects.memory.roots import memory_path, memory_root
from dovetail.dialects.reading import Module, Role, arguments, made_by, of_class
from dovetail.dialects.sizes.symbols import elements
from dovetail.dialects.torch_facts.names import LITERAL, LOAD
from dovetail.dialects.torch_facts.types import is_value_type


@dataclass(frozen=True)
class HandedOut:
    """Operand `index` of `op`, which the user gets as `what`; `taken` are the roots of what is handed out beside it."""

    op: ir.Operation
    index: int
    taken: set[ir.Value]
    what: str


def handed_out(module: Module) -> Iterator[HandedOut]:
    """The owned results of `@forward`, of which there must be one, and the gradients of `@backward`."""
    owned = set[ir.Value]()
    for op in of_class(module.ops(module.forward), OwnOp):
        yield HandedOut(op, 0, owned, "what it owns")
    for backward in module.of(Role.BACKWARD).values():
        # Autograd accumulates into a gradient in place when it holds the only reference.
        taken, end = set(arguments(backward)), module.ops(backward)[-1]
        for index, value in enumerate(end.operands):
            if is_value_type(value.type):
                yield HandedOut(end, index, taken, f"gradient {index}")


def foreign_memory(value: ir.Value, taken: set[ir.Value]) -> str:
    """Whose memory `value` lies in, "" if it is its own, which is then among the `taken` roots."""
    root = memory_root(value)
    if isinstance(root.type, RefType):
        return "the caller's memory"
    if root in taken:
        return "memory that is handed out already"
    if made_by(root, LITERAL):
        return "a constant's memory"  # one tensor for all calls, where ATen runs it
    if _is_part(value):
        return "a part of other memory"
    taken.add(root)
    return ""


def _is_part(value: ir.Value) -> bool:
    """Whether `value` lies in memory that holds more, or fewer, elements than it shows."""
    views = [op for op in memory_path(value) if op.name != LOAD]  # a load shows all, of sizes that memory leaves open
    if not views:
        return False
    shown, held = elements(value), elements(views[-1].operands[0])
    return shown is None or held is None or shown != held
