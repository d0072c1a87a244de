"""What goes into a region and comes out of it: the views that move inside, its operands and its results."""

from collections.abc import Iterable, Iterator

from torch_mlir import ir

from dovetail.dialects.reachable import reachable
from dovetail.dialects.torch_facts.in_regions import positions
from dovetail.passes.placement.placed_graph import PlacedGraph


def with_views(graph: PlacedGraph, computed: Iterable[int]) -> list[int]:
    """`computed` and the views that they read through, in order. A view costs a region nothing, a host call a lot.

    Also what computes where they gather, though other regions do.
    """

    def computing(number: int) -> Iterator[int]:
        return (each for each in graph.producers[number] if graph.placement[each] == "region" or graph.enters[each])

    read = positions(graph.ops[number] for number in computed)
    again = reachable((graph.made_by[value] for value in read), computing)

    def views(number: int) -> Iterator[int]:
        return (producer for producer in graph.producers[number] if graph.enters[producer])

    return sorted(reachable([*computed, *again], views))


def operands_of(graph: PlacedGraph, inside: list[int]) -> list[ir.Value]:
    """What the ops of a region need from outside; constants are cloned to where they are used."""
    produced = {result for number in inside for result in graph.results[number]}
    operands = dict.fromkeys(value for number in inside for value in graph.operands[number])
    return [value for value in operands if value not in produced and not graph.is_constant(value)]


def results_of(graph: PlacedGraph, computed: list[int]) -> list[ir.Value]:
    """The results of a region's ops that somebody outside needs, directly or through views."""
    own = set(computed)
    return [value for number in computed for value in graph.results[number] if _leaves(graph, value, own)]


def needed_on_host(graph: PlacedGraph) -> list[bool]:
    """For each view, whether somebody needs it on the host, directly or through other views."""
    found = [False] * len(graph)
    for number in reversed(range(len(graph))):
        if graph.placement[number] != "view":
            continue
        for user in graph.users[number]:
            placement = graph.placement[user]
            stays = not graph.enters[number] or placement not in ("region", "view")
            found[number] |= stays or (placement == "view" and found[user])
    return found


def _leaves(graph: PlacedGraph, value: ir.Value, computed: set[int]) -> bool:
    others = (user for user in graph.consumers.get(value, ()) if user not in computed)
    return any(
        not graph.enters[user] or any(_leaves(graph, result, computed) for result in graph.results[user])
        for user in others
    )
