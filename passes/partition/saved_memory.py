"""What may happen to the memory of a saved value between forward and backward."""

from collections import Counter
from functools import cached_property

from torch_mlir import ir

from dovetail.dialects.attributes import ARGUMENTS, STATIC, WATCHED
from dovetail.dialects.dovetail import OwnOp, ReadOp, RefType, SetMetadataOp, TouchOp, WriteOp
from dovetail.dialects.memory.aliases import with_aliases
from dovetail.passes.partition.joint_graph import JointGraph


class SavedMemory:
    """Who else knows the memory of a value of `graph`, by the value's number."""

    def __init__(self, graph: JointGraph):
        self.graph = graph
        attributes = graph.joint.attributes
        facts = ir.ArrayAttr(attributes["arg_attrs"]) if "arg_attrs" in attributes else []
        self.facts = [{each.name: each.attr for each in ir.DictAttr(of)} for of in facts] or [
            {} for _ in graph.arguments
        ]

    def argument_has(self, argument: int, name: str) -> bool:
        """Whether an argument carries the attribute `name`."""
        return name in self.facts[argument]

    def is_static(self, value: int) -> bool:
        """Parameters and buffers outlive the call anyway."""
        producer = self.graph.producers[value]
        if producer is None or not isinstance(self.graph.nodes[producer].view, ReadOp):
            return False
        ref = self.graph.nodes[producer].operands[0]
        return ref < len(self.facts) and self.argument_has(ref, STATIC)

    def is_copied(self, value: int) -> bool:
        """What may change before the backward, though eager's backward would not mind, is saved as a copy."""
        return self.graph.roots[value] in self._written or self.is_exposed(value)

    def is_exposed(self, value: int) -> bool:
        """Whether the user may change the memory of `value` before the backward, and eager's would not mind.

        Where checkpointing keeps eager from saving anything, eager's reads the memory again: here, a change raises. So
        does one beside wrapper subclasses, of which the graph does not say what eager saves.
        """
        is_unknown = self._is_checkpointed or ARGUMENTS in self.graph.joint.attributes
        if self.graph.roots[value] in self._watched or (is_unknown and not self._watched):
            return False
        return self._is_visible(value) and not self.is_static(value)

    def check(self, value: int) -> str:
        """What `dovetail.saved` says of a saved value."""
        return "checked" if self._is_visible(value) and not self.is_exposed(value) else "private"

    def _is_visible(self, value: int) -> bool:
        """Whether the user can change a saved value's memory between forward and backward."""
        root = self.graph.roots[value]
        if root in self._written:
            return False
        return root in self._handed_out or isinstance(self.graph.values[root].type, RefType)

    @cached_property
    def _is_checkpointed(self) -> bool:
        return any(node.policy is not None for node in self.graph.nodes)

    @cached_property
    def _handed_out(self) -> set[int]:
        return {self.graph.roots[self.graph.nodes[index].operands[0]] for index in self.graph.of(OwnOp)}

    @cached_property
    def _watched(self) -> set[int]:
        """The memory, by its root, that eager's autograd saves."""
        nodes = (self.graph.nodes[index] for index in self.graph.of(OwnOp))
        owned = {self.graph.roots[node.operands[0]] for node in nodes if WATCHED in node.op.attributes}
        # A result that is an argument's value is handed out as a copy.
        owned -= set(range(len(self.facts)))
        return owned | {argument for argument in range(len(self.facts)) if self.argument_has(argument, WATCHED)}

    @cached_property
    def _written(self) -> set[int]:
        """Refs whose memory or version counter the call changes, directly or because they share memory with such."""
        changes = (self.graph.of(each) for each in (WriteOp, TouchOp, SetMetadataOp))
        refs = [self.graph.numbers[self.graph.nodes[index].view.ref] for indices in changes for index in indices]
        roots = {self.graph.roots[ref] for ref in refs}
        shared = with_aliases(self.graph.joint, [self.graph.values[root] for root in roots])
        return {self.graph.numbers[value] for value in shared}

    def moves(self) -> Counter[int]:
        """By how much `@call` moves the version counters of refs."""
        found: Counter[int] = Counter()
        for node in self.graph.nodes:
            if isinstance(node.view, WriteOp | TouchOp | SetMetadataOp):
                found[self.graph.roots[self.graph.numbers[node.view.ref]]] += node.view.version_count
        return found
