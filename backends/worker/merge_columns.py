"""Makes one kernel of sums along other dimensions than rows, where they read the same, or one of each."""

from math import prod

from iree.compiler import ir

from dovetail.backends.worker.columns import columns
from dovetail.backends.worker.merged_loops import inputs, is_mergeable, merge
from dovetail.backends.worker.parts import enclose
from dovetail.backends.worker.tensor_graph import TensorGraph

_MOST_SUMS = 3
"""Of columns, in one kernel: more do not fit into its registers."""
_SMALL = 1 << 17
"""Numbers that sums share a kernel for, whatever they read: a launch takes longer."""


def merge_columns(block: ir.Block) -> None:
    """Makes one loop of sums of columns that read the same, and of what computes their terms for them alone."""
    graph = TensorGraph(block)
    groups = [[graph.ops[number] for number in group] for group in _column_groups(graph, _terms(graph))]
    for group in groups:
        # Read anew: what was merged before moved others, and must itself move with what it needs.
        graph = TensorGraph(block)
        sums = [graph.number(op.results[0]) for op in group]
        for together in [sums] if _are_apart(graph, sums) else [[number] for number in sums]:
            merged = merge(graph, together, _terms(graph))
            graph.move_behind(set(together), merged)
        graph.erase_unused(graph.needed_by(sums))
    _part_columns(block)


def _terms(graph: TensorGraph) -> set[int]:
    """The loops over elements that may become part of those that take them."""
    return {
        number
        for number, loops in enumerate(graph.loops)
        if loops and not loops.reduces and is_mergeable(graph, number) and not graph.is_stored(number)
    }


def _are_apart(graph: TensorGraph, numbers: list[int]) -> bool:
    """Whether none of `numbers` needs another."""
    return all(graph.reached(graph.needs[number]).isdisjoint(numbers) for number in numbers)


def _part_columns(block: ir.Block) -> None:
    """Makes a kernel of its own of each sum of columns that reads what another kernel stores anyway, and its quotient.

    IREE would make one of both, for which there is no form: each thread then computes whole columns of terms.
    """
    graph = TensorGraph(block)
    starts = {number for number, loops in enumerate(graph.loops) if loops is None}
    # From the last on: what adds up another sum asks for what that reads.
    for number, loops in reversed(list(enumerate(graph.loops))):
        if loops and columns(loops) is not None and graph.reads_stored(number):
            made = {number, *_along(graph, number)}
            taken = {value for user in graph.users(made) for value in graph.ops[user].operands}
            results = [value for each in sorted(made) for value in graph.ops[each].results if value in taken]
            needs = (need for each in made for need in graph.needs[each])
            region = enclose(graph, made | graph.needed_by(needs, starts), results)
            graph.move_behind(made, region)
            graph.erase_unused(made)


def _along(graph: TensorGraph, number: int) -> list[int]:
    """The loops that take one by one, in order, what the sums `number` give, and nothing else that is computed."""
    sums = graph.loops[number]
    if sums is None:
        return []
    kept = tuple(extent for extent, is_reduced in zip(sums.extents, sums.reduced, strict=True) if not is_reduced)
    found = []
    for user in graph.users({number}):
        loops = graph.loops[user]
        if loops is None or loops.reduces or loops.extents != kept or not is_mergeable(graph, user):
            continue
        takes_no_other = all(graph.loops[need] is None or need == number for need in graph.needs[user])
        if takes_no_other and all(dims == tuple(range(len(kept))) for _, dims in inputs(graph, user, set())):
            found.append(user)
    return found


def _column_groups(graph: TensorGraph, terms: set[int]) -> list[list[int]]:
    groups: dict[tuple, list[list[int]]] = {}
    for number, loops in enumerate(graph.loops):
        is_small = loops is not None and loops.reduces_columns and prod(loops.extents) <= _SMALL
        if not loops or not (is_small or columns(loops)) or not is_mergeable(graph, number):
            continue
        read = inputs(graph, number, terms)
        alike = groups.setdefault((loops.extents, loops.reduced), [])
        before = graph.reached([number])
        for group in alike:
            is_apart = len(group) < _MOST_SUMS and before.isdisjoint(group)
            if is_apart and (is_small or any(read & inputs(graph, member, terms) for member in group)):
                group.append(number)
                break
        else:
            alike.append([number])
    return [group for alike in groups.values() for group in alike]
