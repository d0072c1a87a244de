"""Memory that a function uses, and where it comes from."""

from dataclasses import dataclass, field
from enum import Enum

from torch_mlir import ir

from dovetail.dialects.dovetail import AllocOp
from dovetail.dialects.torch_facts.ops import aten_name


class MemoryOrigin(Enum):
    """Where memory comes from."""

    ARGUMENT = "an argument"
    LITERAL = "a constant"
    ALLOCATED = AllocOp.OPERATION_NAME  # or `dovetail.reuse`
    EXACT = "a library kernel that allocates just its result"  # or `dovetail.copy`
    OTHER = "an op"


@dataclass(eq=False)
class Buffer:
    """Memory, or what may be a copy of other memory.

    Attributes:
        root: the value that it is known by, the first one; `values` are all that certainly lie in it, as a whole or
            in part.
        start: the position in the function of the op that makes it, -1 for arguments; `last` that of the last use.
        nbytes: of `root`; 0 for arguments, constants and lists, which hold memory that others made.
        within: the buffers that it may be a view of, through any number of views; `views`, the reverse.
        kept_by: an op that may keep it after the call, if there is one.
    """

    root: ir.Value
    origin: MemoryOrigin
    start: int
    nbytes: int = 0
    within: frozenset["Buffer"] = frozenset()
    values: list[ir.Value] = field(default_factory=list)
    views: list["Buffer"] = field(default_factory=list)
    last: int = -1
    kept_by: ir.Operation | None = None

    @property
    def may_be(self) -> set["Buffer"]:
        """All buffers whose memory it may be."""
        return {self, *self.within}

    @property
    def maker(self) -> str:
        """The name of the op that makes it; not of arguments."""
        return op_title(self.root.owner.operation)

    @property
    def keeper(self) -> str:
        """The name of the op that may keep it, empty if there is none."""
        return "" if self.kept_by is None else op_title(self.kept_by)


def op_title(op: ir.Operation) -> str:
    """What errors call `op`: the ATen overload that it calls, or its own name."""
    return aten_name(op) or op.name
