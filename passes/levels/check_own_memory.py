"""What `verify-level` asks of what the host functions hand out: memory that nothing else has."""

from dovetail.dialects.reading import Module
from dovetail.passes.base import fail
from dovetail.passes.rewriting.own_memory import handed_out, shared_memory


def check_own_memory(module: Module) -> None:
    """Raises PassError for an owned result or a gradient that shares its memory.

    Asked from level `program` on: before, only values are said, and `plan-epilogue` puts a copy where one is needed.
    """
    for each in handed_out(module):
        shared = shared_memory(each.op.operands[each.index], each.taken)
        if shared:
            raise fail(each.op, f"expects {each.what} in memory of its own, such as a 'dovetail.copy', got {shared}")
