"""Makes one loop of some that compute as many elements each and need nothing of each other: updates of parameters."""

from collections.abc import Iterator

from iree.compiler import ir

from dovetail.backends.worker.merged_loops import inputs, is_mergeable, merge
from dovetail.backends.worker.tensor_graph import TensorGraph

MOST_BOUND = 32
"""Tensors that one kernel reads or writes: what its registers hold of four elements each."""
MOST_NUMBERS = 64
"""The same, of single numbers."""
_KERNELS = ("flow.dispatch.region", "tensor.insert_slice")
_ENDS = ("iree_tensor_ext.compute_barrier.end", "hal.tensor.alias")


def merge_alike(block: ir.Block) -> None:
    """Has several families of loops share a kernel; a family is what is connected by what its loops take."""
    graph = TensorGraph(block)
    apart = _apart(graph)
    roots = [number for number in sorted(apart) if any(graph.ops[user].name in _ENDS for user in graph.users({number}))]
    by_extents: dict[tuple[int, ...], list[set[int]]] = {}
    for number in roots:
        mine, families = graph.needed_by([number], apart), by_extents.setdefault(graph.extents(number), [])
        near = [family for family in families if not mine.isdisjoint(family)]
        families[:] = [family for family in families if family not in near] + [mine.union(*near)]
    for extents, families in by_extents.items():
        ends = [
            [number for number in roots if number in family and graph.extents(number) == extents] for family in families
        ]
        for together in _batches(graph, ends, apart, MOST_BOUND if extents else MOST_NUMBERS):
            merged = merge(graph, together, apart)
            graph.move_behind(set(together), merged)
    graph.erase_unused(apart)


def _apart(graph: TensorGraph) -> set[int]:
    """Loops over elements, in the order of memory, of the function's arguments, for nothing but its results."""
    found: set[int] = set()
    for number in reversed(range(len(graph.ops))):
        users = [user for user in graph.users({number}) if not _is_end(graph, user)]
        loops = graph.loops[number]
        if loops and not loops.reduces and is_mergeable(graph, number) and found.issuperset(users):
            found.add(number)
    for number in sorted(found):
        others = (other for other in graph.reached([number]) if other not in found)
        is_alone = not any(graph.loops[other] or graph.ops[other].name in _KERNELS for other in others)
        in_order = all(along == tuple(sorted(along)) for _, along in inputs(graph, number, set()))
        if not (is_alone and in_order):
            found.discard(number)
    return found


def _is_end(graph: TensorGraph, number: int) -> bool:
    """Whether op `number` gives the function's result; a barrier may also stand before what takes it."""
    behind = (graph.ops[user].name for user in graph.users({number}))
    return graph.ops[number].name in _ENDS and all(name.startswith(("hal.", "util.")) for name in behind)


def _batches(graph: TensorGraph, families: list[list[int]], inside: set[int], most: int) -> Iterator[list[int]]:
    """The roots of two and more families that fit into one kernel together, or of one that IREE would not make one of.

    It computes truth values anew where they are needed, beside a kernel that stores them. Equal families make equal
    kernels where their number lets them, which are launched once.
    """
    sizes = [_bound(graph, family, inside) for family in families]
    if len(set(sizes)) == 1:
        fitting = most // sizes[0]
        most = sizes[0] * next((each for each in range(fitting, fitting // 2, -1) if len(sizes) % each == 0), fitting)
    batch: list[int] = []
    bound = count = 0
    for family, size in zip([*families, []], [*sizes, 0], strict=True):
        if batch and (not family or bound + size > most):
            if count > 1 or (len(batch) > 1 and any(map(graph.gives_truths, batch))):
                yield sorted(batch)
            batch, bound, count = [], 0, 0
        batch, bound, count = [*batch, *family], bound + size, count + 1


def _bound(graph: TensorGraph, family: list[int], inside: set[int]) -> int:
    """Tensors that a kernel of the roots `family` reads or writes."""
    return len({value for number in family for value, _ in inputs(graph, number, inside)}) + len(family)
