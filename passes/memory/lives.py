"""When the buffers of a function die, and which of them something else may lie in afterwards."""

from collections.abc import Mapping, Set

from torch_mlir import ir

from dovetail.dialects.memory.buffer import Buffer, MemoryOrigin
from dovetail.dialects.memory.buffers import Buffers
from dovetail.dialects.memory.memory_use import held_bytes


class Lives:
    """What a function hands out, and where all else ends.

    `donated` are arguments that may be overwritten, what is `elsewhere` lies on another device than allocations do.

    Attributes:
        held: bytes of each buffer that the function is the one to hold.
        ends: the position of the last op that uses a buffer, through no view; not of what is handed out.
    """

    def __init__(self, buffers: Buffers, donated: frozenset[Buffer], elsewhere: Set[Buffer]):
        self.buffers, self.donated, self.elsewhere = buffers, donated, elsewhere
        self.held: Mapping[Buffer, int] = held_bytes(buffers)
        self.handed_out = {buffer for one in buffers.used(buffers.ops[-1]) for buffer in one.may_be}
        self.ends = {buffer: buffer.last for buffer in buffers.all if buffer.last < len(buffers.ops) - 1}

    def is_reusable(self, buffer: Buffer) -> bool:
        """Whether something else may lie in a buffer's memory once it is dead."""
        is_ours = buffer.origin in (MemoryOrigin.ALLOCATED, MemoryOrigin.EXACT) or buffer in self.donated
        is_gone = buffer in self.ends and all(view in self.ends for view in buffer.views)
        is_left = buffer.kept_by is None and buffer not in self.handed_out
        return is_ours and is_gone and is_left and buffer not in self.elsewhere

    def death(self, buffer: Buffer) -> int:
        """The position of the last op that uses memory, through whatever view."""
        return max([buffer.last, *(view.last for view in buffer.views)])

    def dies_at(self, buffer: Buffer, op: ir.Operation) -> bool:
        """Whether `op` is the last one to use a buffer that something else may lie in afterwards."""
        return self.is_reusable(buffer) and self.buffers.ops[self.death(buffer)] == op
