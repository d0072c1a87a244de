"""Decisions that both sides of a partition would take, each by bits of its own."""

from collections.abc import Iterator, Sequence

from torch_mlir import ir

from dovetail.dialects.dovetail import TangentOp
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Module
from dovetail.dialects.torch_facts.exactness import deciding_operands, is_repeatable
from dovetail.passes.exactness.value_flow import ValueFlow
from dovetail.passes.exactness.ways import decided_again
from dovetail.passes.partition.halves import Halves
from dovetail.passes.partition.joint_graph import JointGraph

_FORWARD, _BACKWARD = "forward", "backward"


def repeated_decisions(graph: JointGraph, halves: Halves, saved: Sequence[int]) -> list[int]:
    """The first nodes of `@backward` that decide by last bits what `@forward` does, and would by other bits.

    What `verify-comparisons` asks of the two functions is asked here of the nodes that they would consist of.
    """
    computed, again = sorted(halves.computed(saved)), halves.recomputed(saved)
    names = {graph.nodes[index].op.name for index in computed}
    if not any(graph.nodes[index].op.name in names for index in _decided_anew(graph, again, saved)):
        return []
    flow = ValueFlow(Module(graph.joint.operation.parent))
    known: dict[ir.Value, int | None] = {value: flow.given(value, _FORWARD) for value in graph.arguments}
    flow.follow((graph.nodes[index].op for index in computed), _FORWARD, known)
    kept = {graph.values[value]: known[graph.values[value]] for value in (*saved, *halves.symbols(saved))}
    for index in graph.of(TangentOp):
        tangent = graph.nodes[index].op.results[0]
        kept[tangent] = flow.given(tangent, _BACKWARD)
    followed = {*again, *_constants(graph, again)}
    flow.follow((graph.nodes[index].op for index in sorted(followed)), _BACKWARD, kept)
    nodes = {graph.nodes[index].op: index for index in again}
    return [nodes[op] for step in decided_again(flow, {_FORWARD}, {_BACKWARD}) if (op := flow.steps[step].op) in nodes]


def _constants(graph: JointGraph, again: Sequence[int]) -> set[int]:
    """The constants, and arithmetic of numbers, that the nodes of `again` compute with.

    No other: the forward's numbers may come from arguments that the backward does not know.
    """

    def operands(index: int) -> list[int]:
        return [operand for operand in graph.operand_nodes(index) if graph.nodes[operand].is_constant]

    return reachable((operand for index in again for operand in operands(index)), operands)


def _decided_anew(graph: JointGraph, again: Sequence[int], saved: Sequence[int]) -> Iterator[int]:
    """The nodes of `again` that decide by bits that these compute anew: mostly none, and then nothing else is asked."""
    kept, varies = set(saved), set[int]()
    for index in again:
        node = graph.nodes[index]
        changes = any(graph.producers[value] in varies for value in node.operands if value not in kept)
        if changes and deciding_operands(node.op):
            yield index
        if changes or not is_repeatable(node.op):
            varies.add(index)
