"""What `@forward` saves for `@backward`, by each algorithm of the pass `partition`."""

from collections.abc import Container, Sequence
from functools import partial

from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.torch_facts.types import is_number
from dovetail.passes.partition.functions_for_both import functions_for_both
from dovetail.passes.partition.halves import Halves
from dovetail.passes.partition.held_values import held_values
from dovetail.passes.partition.joint_graph import JointGraph
from dovetail.passes.partition.memory_budget import within_budget
from dovetail.passes.partition.min_cut import Cost, RecomputeNetwork
from dovetail.passes.partition.recompute_price import recompute_prices
from dovetail.passes.partition.repeated_decisions import repeated_decisions
from dovetail.passes.partition.saved_memory import Fate, SavedMemory

# The cost of a byte. It is more than of all the free values of a graph, which cost 1 so that none is saved in vain.
_BYTE = 4096


def choose_saved(graph: JointGraph, halves: Halves, memory: SavedMemory, algorithm: str, budget: float) -> list[int]:
    """Returns the values to save, in order. Of what both sides would decide by different bits, one decides.

    Raises:
        PassError: for a value that can neither be saved nor computed again, naming its op.
    """
    while True:
        saved = _cheapest(graph, halves, memory, algorithm, budget)
        again = repeated_decisions(graph, halves, saved)
        if not again:
            return [*saved, *halves.symbols(saved)]
        for index in again:
            graph.nodes[index].is_once = True


def _cheapest(graph: JointGraph, halves: Halves, memory: SavedMemory, algorithm: str, budget: float) -> list[int]:
    if algorithm == "default":
        return halves.sources()
    costs = save_costs(graph, memory)
    again = set() if graph.device == "cuda" else functions_for_both(graph, halves)
    prices = recompute_prices(graph, halves.forward, again)
    if budget == 1:
        cheap: list[Cost] = [None if price else price for price in prices]
        network = RecomputeNetwork(graph, halves.needed, cheap)
        costs = _with_kept(graph, halves, memory, costs)
        cut = partial(network.cut, recompute=cheap)
    else:
        network = RecomputeNetwork(graph, halves.needed, prices)
        cut = partial(_cut_within, network, budget, prices)
    saved = cut(costs)
    held = held_values(graph, halves, memory, saved)
    return cut([cost and 1 if value in held else cost for value, cost in enumerate(costs)]) if held else saved


def _cut_within(network: RecomputeNetwork, budget: float, work: Sequence[Cost], costs: Sequence[Cost]) -> list[int]:
    def size(values: list[int]) -> int:
        return sum(costs[value] or 0 for value in values) // _BYTE

    return within_budget(budget, work, partial(network.cut, costs), size)


def _with_kept(graph: JointGraph, halves: Halves, memory: SavedMemory, costs: list[Cost]) -> list[Cost]:
    """`costs`, none of what library calls of a GPU take in both halves: images, activations, converted weights.

    The forward puts it into memory, and eager keeps it there. Computed again, it takes the backward a launch that reads
    as much and writes all of it, also where all that it is computed from is saved anyway: so these cost nothing, since
    at any price the cut would compute them of that.
    """
    if graph.device != "cuda":
        return costs
    backward = [index for index, node in enumerate(graph.nodes) if index in halves.backward and node.is_apart]
    taken = {graph.roots[value] for index in backward for value in graph.nodes[index].operands}
    kept = taken & _in_memory(graph, halves.backward)
    return [
        cost and (0 if graph.roots[value] in kept and memory.fate(value) is not Fate.COPY else cost)
        for value, cost in enumerate(costs)
    ]


def save_costs(graph: JointGraph, memory: SavedMemory) -> list[Cost]:
    """By value, its bytes, twice where a copy is saved; next to nothing for what lives on or the user wants saved.

    On GPUs, where moving is the time, also twice for what is written only to be saved. None for what is never saved:
    views, constants, what the user wants recomputed, and what is no tensor or number.
    """
    in_memory = _in_memory(graph) if graph.device == "cuda" else None
    return [_cost(graph, memory, value, in_memory) for value in range(len(graph.values))]


def _in_memory(graph: JointGraph, but: Container[int] = ()) -> set[int]:
    """By their roots, the values that stand in memory whether or not they are saved: what is no part of a region.

    What stands there only by nodes of `but` is left out.
    """
    apart = [node for index, node in enumerate(graph.nodes) if index not in but and node.is_apart]
    return {graph.roots[value] for node in apart for value in (*node.operands, *node.results)}


def _cost(graph: JointGraph, memory: SavedMemory, value: int, in_memory: Container[int] | None) -> Cost:
    producer = graph.producers[value]
    info = expected_info(graph.values[value])
    if producer is None:
        return None
    node = graph.nodes[producer]
    if info is None:
        return 1 if node.is_extern and is_number(graph.values[value].type) else None
    if node.is_constant or ((node.is_view or node.is_recomputed) and not node.is_extern):
        return None
    if node.is_saved or memory.is_static(value):
        return 1
    is_written = memory.fate(value) is Fate.COPY or (in_memory is not None and graph.roots[value] not in in_memory)
    # Of as many bytes, what the user is given: it may live on anyway, and a second derivative starts from it.
    return (_BYTE * info.nbytes + (not memory.is_handed_out(value))) * (2 if is_written else 1)
