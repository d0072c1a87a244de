"""Elementary functions whose results library calls of the forward and of the backward take, as the GELU of an MLP."""

from collections.abc import Iterable

from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.torch_facts.exactness import deciding_operands
from dovetail.dialects.torch_facts.ops import Kind, row
from dovetail.dialects.torch_facts.row import Rounding
from dovetail.passes.partition.halves import Halves
from dovetail.passes.partition.joint_graph import JointGraph


def functions_for_both(graph: JointGraph, halves: Halves) -> set[int]:
    """The nodes of the forward that compute these results.

    In the forward such a result is in memory. To have it there again, a region of the backward would compute the
    function for each element, and do nothing else.
    """
    taken = set.intersection(*(_taken(graph, half) for half in (halves.forward, halves.backward)))
    reached = _reached(graph)
    return {index for index in graph.nodes_of(taken) if _is_of_functions(graph, index, reached)}


def _taken(graph: JointGraph, half: Iterable[int]) -> set[int]:
    """By their roots, the values that nodes of `half` take which are no part of a region."""
    nodes = (graph.nodes[index] for index in half)
    return {graph.roots[value] for node in nodes if node.is_apart for value in node.operands}


def _reached(graph: JointGraph) -> list[int]:
    """By node, how many numbers the largest elementary function has that it is, or takes by pointwise ops and views."""
    reached = [0] * len(graph.nodes)
    for index, node in enumerate(graph.nodes):
        before = graph.operand_nodes(index) if node.kind in (Kind.POINTWISE, Kind.VIEW) else []
        own = _floats(graph, index) if _is_function(graph, index) else 0
        reached[index] = max([own, *(reached[each] for each in before)])
    return reached


def _is_of_functions(graph: JointGraph, index: int, reached: list[int]) -> bool:
    """Whether node `index` computes elements, and by pointwise ops takes an elementary function of as many."""
    node = graph.nodes[index]
    if node.kind is not Kind.POINTWISE or deciding_operands(node.op):
        return False
    return reached[index] >= max(_floats(graph, index), 1)


def _is_function(graph: JointGraph, index: int) -> bool:
    op, facts = graph.nodes[index].op, row(graph.nodes[index].op)
    is_rounded = facts.kind is Kind.POINTWISE and facts.rounding is Rounding.OFTEN and not facts.multiplies
    return is_rounded and not deciding_operands(op) and _floats(graph, index) > 0


def _floats(graph: JointGraph, index: int) -> int:
    """How many floating-point numbers a node's first result has; 0 of what is no tensor of such."""
    results = graph.nodes[index].results
    info = expected_info(graph.values[results[0]]) if results else None
    return info.numel if info is not None and info.is_floating_point else 0
