"""Which ops of `@joint` the forward must compute, which only the backward can, and what the one needs of the other."""

from collections.abc import Sequence
from dataclasses import replace

from dovetail.dialects.attributes import IN_BACKWARD, SIZES, STRIDES
from dovetail.dialects.dovetail import GradientOp, OwnOp, ReadOp, RefType, TangentOp, WriteOp
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import attribute
from dovetail.dialects.sizes.symbols import all_symbols, used_symbols
from dovetail.dialects.torch_facts.types import is_number
from dovetail.passes.partition.joint_graph import JointGraph, JointNode


class Halves:
    """The nodes of `graph`, sorted.

    Attributes:
        forward: what `@forward` computes even if it saves nothing.
        backward: what depends on a tangent, or is an effect of the backward.
        needed: the values that nodes of the backward use and none of them computes, in order.
        written: the values that `@call` writes and no `own` hands out yet, each once.

    Nodes in neither set can be on both sides, or on none.
    """

    def __init__(self, graph: JointGraph):
        self.graph = graph
        self.written = self._written()
        self.backward = self._backward()
        self.forward = self._forward()
        self._spread_recomputation()
        self.needed = self._needed()

    def _written(self) -> list[int]:
        numbers = (self.graph.numbers[self.graph.nodes[index].view.value] for index in self.graph.of(WriteOp))
        return list(dict.fromkeys(each for each in numbers if not isinstance(self.graph.values[each].type, RefType)))

    def _backward(self) -> set[int]:
        reached: set[int] = set()
        for index, node in enumerate(self.graph.nodes):
            is_start = isinstance(node.view, TangentOp) or (node.is_extern and IN_BACKWARD in node.op.attributes)
            if is_start or not reached.isdisjoint(self.graph.operand_nodes(index)):
                reached.add(index)
        return reached

    def _forward(self) -> set[int]:
        effects = {index for index, node in enumerate(self.graph.nodes) if node.is_extern} - self.backward
        return self.graph.ancestors([*self.graph.of(OwnOp), *effects, *self.graph.nodes_of(self.written)])

    def _spread_recomputation(self) -> None:
        """What only the backward computes from a recomputed value is not saved in its place."""
        nodes = self.graph.nodes
        for index, node in enumerate(nodes):
            if index in self.forward or index in self.backward or node.is_extern or node.is_constant:
                continue
            if any(nodes[operand].is_recomputed for operand in self.graph.operand_nodes(index)):
                nodes[index] = replace(node, policy="prefer_recompute")

    def _needed(self) -> list[int]:
        """A gradient may itself be a value of the forward."""
        found: dict[int, None] = {}
        gradients = set(self.graph.of(GradientOp))
        for index in sorted(self.graph.ancestors(self._roots()) & (self.backward | gradients)):
            pending = list(reversed(self.graph.nodes[index].operands))
            while pending:
                value = pending.pop()
                producer = self.graph.producers[value]
                if producer is None or producer in self.backward:
                    continue
                if self.graph.nodes[producer].is_constant:
                    pending += reversed(self.graph.nodes[producer].operands)  # arithmetic of numbers
                    continue
                if not isinstance(self.graph.values[value].type, RefType):
                    found[value] = None
        return list(found)

    def _roots(self) -> list[int]:
        """What the backward is for: gradients, and effects."""
        effects = (index for index in self.backward if self.graph.nodes[index].is_extern)
        return [*self.graph.of(GradientOp), *effects]

    def computed(self, saved: Sequence[int]) -> set[int]:
        """The nodes of `@forward`: those that it computes anyway, and those that the `saved` values need."""
        return self.forward | self.graph.ancestors(self.graph.nodes_of(saved))

    def recomputed(self, saved: Sequence[int]) -> list[int]:
        """The nodes of `@backward`, in order: its own, and those that bridge from the `saved` values."""
        nodes, kept = self.graph.nodes, set(saved)

        def needed(index: int) -> list[int]:
            values = () if isinstance(nodes[index].view, TangentOp) else nodes[index].operands
            return self.graph.nodes_of(value for value in values if value not in kept)

        found = (index for index in sorted(reachable(self._roots(), needed)) if not nodes[index].is_constant)
        return [index for index in found if not isinstance(nodes[index].view, GradientOp | TangentOp | OwnOp)]

    def symbols(self, saved: Sequence[int]) -> list[int]:
        """The numbers, arguments or read from data, that `@backward` computes with or sizes results by, in order."""
        graph, kept = self.graph, set(saved)
        nodes = [graph.nodes[index] for index in self.recomputed(saved)]
        used = [value for node in nodes for value in node.operands]
        said = [each for node in nodes for name in (SIZES, STRIDES) if (each := attribute(node.op, name))]
        stated = {symbol for fact in said for symbol in used_symbols(fact)}
        used += [graph.numbers[value] for number, value in all_symbols(graph.joint).items() if number in stated]

        def is_taken(value: int) -> bool:
            is_there = graph.producers[value] in self.backward or value in kept or self._constants_of(value)
            return not is_there and is_number(graph.values[value].type)

        met = reachable(used, lambda value: (each for node in self._constants_of(value) for each in node.operands))
        return sorted(filter(is_taken, met))

    def _constants_of(self, value: int) -> list[JointNode]:
        """The node that computes `value`, if it is a constant or arithmetic of numbers."""
        nodes = (self.graph.nodes[index] for index in self.graph.nodes_of([value]))
        return [node for node in nodes if node.is_constant]

    def sources(self) -> list[int]:
        """What the algorithm `default` saves: the needed values themselves, but for some what they come from.

        These are views, what the user wants recomputed, and what only the backward uses, which is better off there.
        """
        graph = self.graph

        def is_late(index: int) -> bool:
            node = graph.nodes[index]
            is_better_late = node.is_view or node.is_recomputed or not (node.is_once or index in self.forward)
            return is_better_late and not (node.is_extern or node.is_constant or isinstance(node.view, ReadOp))

        def behind(value: int) -> list[int]:
            return [each for index in filter(is_late, graph.nodes_of([value])) for each in graph.nodes[index].operands]

        met = [(value, index) for value in reachable(self.needed, behind) for index in graph.nodes_of([value])]
        return sorted(value for value, index in met if not (is_late(index) or graph.nodes[index].is_constant))
