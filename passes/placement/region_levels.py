"""Which level each operation of a placed function runs at; docs/decisions/0005 says why levels."""

from dataclasses import dataclass, field

from dovetail.passes.placement.crossed_reductions import crossed_reductions
from dovetail.passes.placement.placed_graph import PlacedGraph


@dataclass
class Level:
    """What one level holds, as numbers in the graph: region ops run first, then host ops."""

    region: list[int] = field(default_factory=list)
    host: list[int] = field(default_factory=list)


def region_levels(graph: PlacedGraph, *, is_backward: bool) -> list[Level]:
    """Region ops, and what is recomputed, as late as their users allow, so that it dies young; host calls early.

    A reduction that meets itself in its region is pinned in `graph`: those who use it are in a later region.
    """
    while True:
        levels = _levels(graph, is_backward)
        crossed = [number for level in levels for number in crossed_reductions(graph, level.region)]
        if not crossed:
            return levels
        for number in crossed:
            assert not graph.is_pinned[number], graph.ops[number]  # else this would not end
            graph.is_pinned[number] = True


def _levels(graph: PlacedGraph, is_backward: bool) -> list[Level]:
    on_host = _on_host(graph)
    earliest = _earliest(graph, on_host)
    level = _latest(graph, earliest, on_host, is_backward)
    levels = [Level() for _ in range(max(level, default=0) + 1)]
    for number, placement in enumerate(graph.placement):
        if placement == "view" and not graph.is_joined[number]:
            level[number] = max((level[producer] for producer in graph.producers[number]), default=0)
        if placement == "region":
            levels[level[number]].region.append(number)
        elif placement not in ("constant", "read"):
            levels[level[number]].host.append(number)
    return levels


def _earliest(graph: PlacedGraph, on_host: list[bool]) -> list[int]:
    """Within a level regions run before host calls, so a region is one above the host call that it reads."""
    level: list[int] = []
    last_effect = highest = 0
    for number, placement in enumerate(graph.placement):
        producers = graph.producers[number]
        if placement == "read":
            own = 0
        elif placement == "end":
            own = highest
        elif placement == "region" or graph.is_joined[number]:
            own = max((level[producer] + on_host[producer] for producer in producers), default=0)
        else:
            own = max((level[each] for each in producers), default=0)
        if graph.is_effect[number]:
            own = last_effect = max(own, last_effect)
        highest = max(highest, own)
        level.append(own)
    return level


def _on_host(graph: PlacedGraph) -> list[bool]:
    """Whether a region that uses an op is a later one: after a call, a view that can't move inside, a pinned op."""
    found: list[bool] = []
    for number, placement in enumerate(graph.placement):
        is_late = not graph.enters[number] or any(found[producer] for producer in graph.producers[number])
        waits = placement == "view" and is_late and not graph.is_joined[number]
        # A number that a call read is known when that has run.
        is_read = placement == "constant" and any(found[producer] for producer in graph.producers[number])
        found.append(placement == "host" or graph.is_pinned[number] or waits or is_read)
    return found


def _latest(graph: PlacedGraph, earliest: list[int], on_host: list[bool], is_backward: bool) -> list[int]:
    """Moves ops to the level of their first user; what the function returns, most host calls, and early ops stay.

    In the backward, host calls that need no tangent are recomputed, or were left for it: they move too. Gradients are
    converted last.
    """
    level = list(earliest)
    stays = _from_arguments(graph) if is_backward else [True] * len(graph)
    for number in reversed(range(len(graph))):
        placement = graph.placement[number]
        is_called_late = placement == "host" and not stays[number] and not graph.is_effect[number]
        if graph.is_early[number] and not is_backward:
            continue
        if graph.is_late[number] and is_backward:
            level[number] = max(earliest)  # with all others, in few kernels
            continue
        if placement in ("region", "view") or is_called_late:
            bounds = (_before(graph, user, number, level, earliest, on_host) for user in graph.users[number])
            level[number] = max(earliest[number], min(bounds, default=0))
    return level


def _before(graph: PlacedGraph, user: int, op: int, level: list[int], earliest: list[int], on_host: list[bool]) -> int:
    """The greatest level at which `op` can run for `user` to run at its own."""
    if graph.placement[user] in ("own", "end"):
        return earliest[op]
    if graph.placement[op] == "host" or graph.is_pinned[op]:
        if graph.placement[user] != "view":
            return level[user] - (graph.placement[user] == "region")
        further = (_before(graph, each, op, level, earliest, on_host) for each in graph.users[user])
        return min(further, default=earliest[op])
    is_inside = graph.placement[user] == "region" or graph.is_joined[user]
    waits = graph.placement[op] == "view" and on_host[op] and is_inside
    return level[user] - waits


def _from_arguments(graph: PlacedGraph) -> list[bool]:
    """Whether an op depends on memory handed in: in the backward, on a tangent."""
    reached: list[bool] = []
    for placement, producers in zip(graph.placement, graph.producers, strict=True):
        reached.append(placement == "read" or any(reached[producer] for producer in producers))
    return reached
