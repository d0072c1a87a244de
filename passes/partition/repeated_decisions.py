"""Decisions that both sides of a partition would take, each by bits of its own."""

from collections.abc import Sequence

from dovetail.dialects.torch_facts.exactness import deciding_operands, is_repeatable
from dovetail.passes.partition.halves import Halves
from dovetail.passes.partition.joint_graph import JointGraph


def repeated_decisions(graph: JointGraph, halves: Halves, saved: Sequence[int]) -> list[int]:
    """The first nodes that decide by last bits in `@forward`, and in `@backward` by what that computes again.

    A forward that rounds down to 3 and a backward that rounds to 4 are those of two different functions. Of decisions
    that follow from one another, only the first is returned.
    """
    forward, kept = halves.computed(saved), set(saved)
    varies: set[int] = set()
    found: list[int] = []
    for index in halves.recomputed(saved):
        node = graph.nodes[index]
        if index not in forward:
            continue
        changes = any(graph.producers[value] in varies for value in node.operands if value not in kept)
        if changes and deciding_operands(node.op):
            found.append(index)
        elif changes or not is_repeatable(node.op):
            varies.add(index)
    return found
