"""Whether what a host function hands out lies in memory of its own: a pass sees to it, a verifier checks it."""

from torch_mlir import ir

from dovetail.dialects.dovetail import RefType
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import made_by
from dovetail.dialects.symbols import elements
from dovetail.dialects.torch_facts.names import LITERAL


def shared_memory(value: ir.Value, taken: set[ir.Value]) -> str:
    """Whose memory `value` lies in, "" if it is its own, which is then among the `taken` roots."""
    root = memory_root(value)
    if isinstance(root.type, RefType):
        return "the caller's memory"
    if root in taken:
        return "memory that is handed out already"
    if made_by(root, LITERAL):
        return "a constant's memory"  # one tensor for all calls, where ATen runs it
    if _is_part(value, root):
        return "a part of other memory"
    taken.add(root)
    return ""


def _is_part(value: ir.Value, root: ir.Value) -> bool:
    """Whether `value` lies in memory that holds more, or fewer, elements than it shows."""
    if value == root:
        return False
    shown, held = elements(value), elements(root)
    return shown is None or held is None or shown != held
