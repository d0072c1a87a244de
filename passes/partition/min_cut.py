"""A minimum cut between what is there and what is needed: what to hand over, and what to compute again.

The backward needs what the forward has; a region of the backward, what those before it have.

The rematerialisation network of PyTorch's AOTAutograd, with a price on computing again: a value is an edge that costs
what saving it costs, an op hangs on the source by an edge that costs what running it again does. What lies on the
source's side of a cut is computed in the forward alone, what lies on the sink's in the backward too. So the cheapest
cut is the cheapest way to have all that the backward needs. It is found as a maximum flow (Ford and Fulkerson 1956,
"Maximal Flow Through a Network"), by push-relabel (Goldberg and Tarjan 1988, "A New Approach to the Maximum-Flow
Problem"): OR-Tools'.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy
from ortools.graph.python.max_flow import SimpleMaxFlow
from torch_mlir import ir

from dovetail.dialects.reachable import reachable
from dovetail.passes.base import fail

Cost = int | None
"""A whole number, since fractions would blur the cut; None stands for "never"."""

_SOURCE, _SINK = 0, 1


@dataclass(slots=True, eq=False)
class OpNode:
    """One op; `operands` and `results` are numbers of values."""

    op: ir.Operation
    operands: tuple[int, ...]
    results: tuple[int, ...]


N = TypeVar("N", bound=OpNode)


class Graph(Generic[N]):
    """`nodes` in order; `producers` are, by value, the nodes that compute it, None for what none does."""

    nodes: list[N]
    producers: list[int | None]

    def nodes_of(self, values: Iterable[int]) -> list[int]:
        """The nodes that compute `values`."""
        return [node for value in values if (node := self.producers[value]) is not None]

    def operand_nodes(self, index: int) -> list[int]:
        """The nodes that compute the operands of node `index`."""
        return self._before[index]

    @cached_property
    def _before(self) -> list[list[int]]:
        return [self.nodes_of(node.operands) for node in self.nodes]


class RecomputeNetwork:
    """The network for the values that the backward `needs`.

    It goes back from them to the nodes that are never recomputed, those whose price in `recompute` is None; its size is
    linear in what lies between.
    """

    def __init__(self, graph: Graph, needed: Iterable[int], recompute: Sequence[Cost]):
        self.graph = graph
        self.needed = list(needed)
        self.nodes = self._walk(recompute)
        self.values = [value for index in self.nodes for value in graph.nodes[index].results]
        positions = {value: 2 + 2 * position for position, value in enumerate(self.values)}
        vertices = {index: 2 + 2 * len(self.values) + position for position, index in enumerate(self.nodes)}
        edges = [(position, position + 1) for position in positions.values()]
        edges += [(_SOURCE, vertex) for vertex in vertices.values()]
        edges += self._uses(positions, vertices, recompute)
        self.tails, self.heads = numpy.array(edges, dtype=numpy.int32).reshape(-1, 2).T

    def _walk(self, recompute: Sequence[Cost]) -> list[int]:
        def operands(index: int) -> Sequence[int]:
            return () if recompute[index] is None else self.graph.operand_nodes(index)

        return sorted(reachable(self.graph.nodes_of(self.needed), operands))

    def _uses(
        self, positions: Mapping[int, int], vertices: Mapping[int, int], recompute: Sequence[Cost]
    ) -> list[tuple[int, int]]:
        """What has no price: a result needs its op, a recomputed op its operands, the backward what it needs."""
        edges = [(positions[value] + 1, _SINK) for value in self.needed]
        for index, vertex in vertices.items():
            node = self.graph.nodes[index]
            edges += [(vertex, positions[result]) for result in node.results]
            if recompute[index] is not None:
                edges += [(positions[value] + 1, vertex) for value in node.operands if value in positions]
        return edges

    def cut(self, save: Sequence[Cost], recompute: Sequence[Cost]) -> list[int]:
        """Returns the values to save, in order. Of cuts that cost the same, it computes the fewest values again.

        `save` has the cost of each value, `recompute` of each node; it says None where the network was told so.

        Raises:
            PassError: for a needed value that can neither be saved nor computed again, naming its op.
        """
        costs = [*(save[value] for value in self.values), *(recompute[index] for index in self.nodes)]
        # More than saving everything: what costs as much is done only where there is no choice.
        most = 1 + sum(cost for cost in costs[: len(self.values)] if cost is not None)
        # More than that and all that is done for want of a choice, so that no flow is as large.
        never = most + sum(min(recompute[index] or 0, most) for index in self.nodes if self._is_unsavable(index, save))
        # A stranger's module may have sizes that no memory holds, and the network counts in 64 bits.
        shift = max(0, never.bit_length() - 62)
        capacities = numpy.full(len(self.tails), never >> shift, dtype=numpy.int64)
        capacities[: len(costs)] = [(never if cost is None else min(cost, most)) >> shift for cost in costs]
        network = SimpleMaxFlow()
        network.add_arcs_with_capacity(self.tails, self.heads, capacities)
        network.solve(_SOURCE, _SINK)
        if network.optimal_flow() >= never >> shift:
            raise self._lost(save, recompute)
        behind = set(network.get_sink_side_min_cut())
        return [
            value
            for position, value in enumerate(self.values)
            if 2 + 2 * position not in behind and 3 + 2 * position in behind
        ]

    def _is_unsavable(self, index: int, save: Sequence[Cost]) -> bool:
        return any(save[value] is None for value in self.graph.nodes[index].results)

    def _lost(self, save: Sequence[Cost], recompute: Sequence[Cost]) -> Exception:
        """The error for the first op, in order, whose result must cross the cut and can't."""
        lost = (index for index in self.nodes if recompute[index] is None and self._is_unsavable(index, save))
        node = self.graph.nodes[next(lost)]
        types = ", ".join(f"'{result.type}'" for result in node.op.results)
        return fail(node.op, f"is needed by the backward, never computed twice, and {types} can't be saved")
