"""Which saved values' memory `@backward` may write to: what only the program holds, and holds once."""

from collections import Counter

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DONATED
from dovetail.dialects.building.cloning import state_facts
from dovetail.dialects.memory.buffer import MemoryOrigin
from dovetail.dialects.memory.buffers import Buffers
from dovetail.dialects.statements.calls import donated, returned_saved


class Donors:
    """What the buffers of `@forward` tell of each saved value, in order."""

    def __init__(self, buffers: Buffers):
        self.buffers = buffers
        self.saved = returned_saved(buffers.function)
        self.sharing = Counter(buffer for one in self.buffers.used(self.buffers.ops[-1]) for buffer in one.may_be)

    def refusal(self, number: int) -> str:
        """Why saved value `number` can't be donated, empty if it can."""
        if number >= len(self.saved):
            return "it is no saved value"
        value, kind = self.saved[number]
        if kind != "private":
            return "the user can reach it"
        if value not in self.buffers.by_value:
            return "it is a number"
        buffer = self.buffers.by_value[value]
        if buffer.origin not in (MemoryOrigin.ALLOCATED, MemoryOrigin.EXACT):
            return f"its memory comes from {buffer.origin.value}"
        if not (value == buffer.root or self.buffers.is_whole(value)):
            return "it is a view"
        if buffer.kept_by is not None:
            return f"'{buffer.keeper}' may keep it"
        return "" if self.sharing[buffer] == 1 else "the forward returns it twice, or a view of it"

    @property
    def numbers(self) -> frozenset[int]:
        """The saved values that can be donated."""
        return frozenset(number for number in range(len(self.saved)) if not self.refusal(number))


def set_donated(function_op: func.FuncOp, indices: frozenset[int]) -> None:
    """Makes exactly the arguments at `indices` say `dovetail.donated`."""
    stated = indices.union(donated(function_op))
    facts = {index: {DONATED: ir.UnitAttr.get() if index in indices else None} for index in stated}
    state_facts(function_op, "arg_attrs", facts)
