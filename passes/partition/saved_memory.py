"""What may happen to the memory of a saved value between forward and backward."""

from collections.abc import Container
from enum import Enum
from functools import cached_property

from dovetail.dialects.attributes import REREAD, STATIC, WATCHED
from dovetail.dialects.dovetail import OwnOp, ReadOp, RefType, SetMetadataOp, TouchOp, WriteOp
from dovetail.dialects.memory.aliases import with_aliases
from dovetail.dialects.reading import argument_facts
from dovetail.passes.partition.joint_graph import JointGraph


class Fate(Enum):
    """How a value is saved."""

    PRIVATE = "private"
    """As it is: nobody else can change its memory."""
    CHECKED = "checked"
    """As it is: the backward raises if its memory has changed."""
    COPY = "copy"
    """As a copy, which is private: its memory may change, and the backward must not mind."""

    @property
    def kind(self) -> str:
        """What `dovetail.saved` says of the value."""
        return "checked" if self is Fate.CHECKED else "private"


class SavedMemory:
    """Who else knows the memory of a value of `graph`, by the value's number."""

    def __init__(self, graph: JointGraph):
        self.graph = graph
        self.facts = argument_facts(graph.joint)

    def is_static(self, value: int) -> bool:
        """Parameters and buffers outlive the call anyway."""
        producer = self.graph.producers[value]
        if producer is None or not isinstance(self.graph.nodes[producer].view, ReadOp):
            return False
        ref = self.graph.nodes[producer].operands[0]
        return ref < len(self.facts) and STATIC in self.facts[ref]

    def is_written(self, value: int) -> bool:
        """Whether the call changes its memory."""
        return self.graph.roots[value] in self._written

    def is_handed_out(self, value: int) -> bool:
        """Whether a result of the call lies in its memory."""
        return self.graph.roots[value] in self._handed_out

    def fate(self, value: int) -> Fate:
        """What becomes of a value when it is saved.

        | the call changes its memory | the user can change it | eager would mind, or it lives on anyway | fate      |
        |-----------------------------|------------------------|-----------------------------------------|-----------|
        | yes                         |                        |                                         | `COPY`    |
        | no                          | no                     |                                         | `PRIVATE` |
        | no                          | yes                    | yes                                     | `CHECKED` |
        | no                          | yes                    | no                                      | `COPY`    |

        Eager minds where its backward raises if the memory has changed, or reads it again: here, that raises.
        """
        root = self.graph.roots[value]
        if self.is_written(value):
            return Fate.COPY
        if not self.is_handed_out(value) and not isinstance(self.graph.values[root].type, RefType):
            return Fate.PRIVATE
        is_checked = root in self._kept_by_eager or self.is_static(value)
        return Fate.CHECKED if is_checked else Fate.COPY

    @cached_property
    def _handed_out(self) -> set[int]:
        return {self.graph.roots[self.graph.nodes[index].operands[0]] for index in self.graph.of(OwnOp)}

    @cached_property
    def _kept_by_eager(self) -> set[int]:
        """The memory, by its root, that eager's autograd saves, or that a checkpointed region reads again."""
        nodes = (self.graph.nodes[index] for index in self.graph.of(OwnOp))
        owned = {self.graph.roots[node.operands[0]] for node in nodes if _is_needed(node.op.attributes)}
        # A result that is an argument's value is handed out as a copy.
        owned -= set(range(len(self.facts)))
        return owned | {argument for argument, fact in enumerate(self.facts) if _is_needed(fact)}

    @cached_property
    def _written(self) -> set[int]:
        """Refs whose memory or version counter the call changes, directly or because they share memory with such."""
        changes = (self.graph.of(kind) for kind in (WriteOp, TouchOp, SetMetadataOp))
        refs = [self.graph.numbers[self.graph.nodes[index].view.ref] for indices in changes for index in indices]
        roots = {self.graph.roots[ref] for ref in refs}
        shared = with_aliases(self.graph.joint, [self.graph.values[root] for root in roots])
        return {self.graph.numbers[value] for value in shared}


def _is_needed(facts: Container[str]) -> bool:
    return WATCHED in facts or REREAD in facts
