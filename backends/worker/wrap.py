"""Makes one kernel of what belongs together, in a text of IREE's phase `global-optimization`.

Where a value is used twice, IREE cuts, and stores it. Sums of rows and what needs them row by row become one dispatch
region here, which reads the rows once; sums along other dimensions compute their terms by ops of their own. A part of a
concatenation becomes one with what computes it, and is written where it belongs.
"""

from itertools import combinations
from math import prod

from iree.compiler import ir

from dovetail.backends.worker.columns import columns
from dovetail.backends.worker.configurations import rows
from dovetail.backends.worker.gathers import merge_gathers
from dovetail.backends.worker.loops import Loops
from dovetail.backends.worker.merge_alike import merge_alike
from dovetail.backends.worker.merged_loops import inputs, is_mergeable, merge
from dovetail.backends.worker.parts import enclose, wrap_parts
from dovetail.backends.worker.tensor_graph import LOOPS, TensorGraph
from dovetail.backends.worker.walk import editing, producer

Shape = tuple[int, ...]
_MOST_SUMS = 3
"""Of columns, in one kernel: more do not fit into its registers."""
_SMALL = 1 << 17
"""Numbers that sums share a kernel for, whatever they read: a launch takes longer."""


def wrap(text: bytes) -> bytes:
    """`text` with such regions, where IREE would cut."""
    with editing(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for function in module.body.operations:
            if function.operation.name == "util.func" and len(function.regions[0].blocks):
                block = function.regions[0].blocks[0]
                merge_gathers(block)
                wrap_parts(block)
                for shape in _shapes(TensorGraph(block)):
                    _wrap_rows(block, shape)
                _merge_columns(block)
                _widen_where_rounded(block)
                merge_alike(block)
        return str(module).encode()


def _wrap_rows(block: ir.Block, shape: Shape) -> None:
    graph = TensorGraph(block)
    inside = _rows(graph, shape)
    if not inside or not _is_cut(graph, inside, shape) or not _has_root(graph, inside, shape):
        return
    for user in graph.users(inside):
        _compute_terms(graph, inside, user, shape)
    graph = TensorGraph(block)
    inside = _rows(graph, shape)
    computed = {number for number in inside if graph.loops[number]}
    taken = {value for user in graph.users(computed) for value in graph.ops[user].operands}
    results = [value for number in sorted(computed) for value in graph.ops[number].results if value in taken]
    region = enclose(graph, inside, results)
    graph.move_behind(computed, region)
    graph.erase_unused(inside)


def _merge_columns(block: ir.Block) -> None:
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


def _widen_where_rounded(block: ir.Block) -> None:
    """Makes one loop of what rounds numbers and what widens them again, for which alone they are rounded.

    IREE makes what widens part of what takes it, and so a kernel of its own where nothing does.
    """
    graph = TensorGraph(block)
    for number, op in enumerate(graph.ops):
        rounding = graph.number(op.operands[0]) if graph.loops[number] and len(op.operands) == 2 else -1
        if (
            rounding < 0
            or not _computes_last(op, "arith.extf")
            or not _computes_last(graph.ops[rounding], "arith.truncf")
        ):
            continue
        loops = graph.loops[rounding]
        are_mergeable = is_mergeable(graph, number) and is_mergeable(graph, rounding)
        if are_mergeable and loops and not loops.reduces and graph.users({rounding}) == [number]:
            merge(graph, [number], {rounding})
            op.erase()
            graph.ops[rounding].erase()


def _computes_last(op: ir.Operation, name: str) -> bool:
    """Whether an op called `name` computes what the loops `op` yield."""
    if op.name != LOOPS:
        return False
    *_, end = [view.operation for view in op.regions[0].blocks[0].operations]
    made = producer(end.operands[0])
    return made is not None and made.name == name


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


def _shapes(graph: TensorGraph) -> list[Shape]:
    """Those of the reductions of rows that have a form of ours."""
    return list(dict.fromkeys(loops.extents for loops in graph.loops if loops and rows(loops) is not None))


def _sums(graph: TensorGraph, shape: Shape) -> list[int]:
    """The reductions of rows of one shape that have a form of ours."""
    return [n for n, loops in enumerate(graph.loops) if loops and loops.extents == shape and rows(loops) is not None]


def _rows(graph: TensorGraph, shape: Shape) -> set[int]:
    """Sums of rows, what they need, and what needs them row by row; nothing where that is not all plain.

    Beside rows of other shapes, what is no loop over these is taken as it is stored.
    """
    sums = _sums(graph, shape)
    allowed = {*sums} | {
        number
        for number, loops in enumerate(graph.loops)
        if loops is None or (not loops.reduces and loops.extents in (shape, shape[:-1]))
    }
    among = allowed if any(loops and _are_others(loops, shape) for loops in graph.loops) else None
    inside = graph.needed_by(sums, among)
    for number, loops in enumerate(graph.loops):
        needed = graph.needed_by([number], among) if loops else set()
        if needed <= allowed and not needed.isdisjoint(sums):
            inside |= needed
    return inside if inside <= allowed and graph.is_closed(inside) else set()


def _are_others(loops: Loops, shape: Shape) -> bool:
    """Whether loops reduce rows of another shape; of several dimensions IREE makes one."""
    first = loops.reduced.index(True) if loops.reduces else len(loops.reduced)
    return loops.reduces and all(loops.reduced[first:]) and loops.extents != shape and first > 0


def _is_cut(graph: TensorGraph, inside: set[int], shape: Shape) -> bool:
    """Whether IREE would: between sums that need not one another, before numbers, and before loops over elements."""
    sums = [number for number in _sums(graph, shape) if number in inside]
    if any(graph.loops[number] and not graph.extents(number) for number in inside):
        return not _stores_elements(graph, inside, shape)
    are_apart = any(first not in graph.needed_by([second]) for first, second in combinations(sums, 2))
    return are_apart or any(_elements(graph, inside, user, shape) for user in graph.users(inside))


def _stores_elements(graph: TensorGraph, inside: set[int], shape: Shape) -> bool:
    """Whether elements of the rows are taken elsewhere: beside a single number, IREE has one thread do all of them."""
    taken = {number for user in graph.users(inside) for number in graph.needs[user]} & inside
    return any(graph.extents(number) == shape and number not in _sums(graph, shape) for number in taken)


def _has_root(graph: TensorGraph, inside: set[int], shape: Shape) -> bool:
    """Whether all sums and all that is used elsewhere are needed by one op: IREE tiles a kernel from its last op."""
    terms = {user: _elements(graph, inside, user, shape) for user in graph.users(inside)}
    used = {
        number
        for user in terms
        for number in graph.needs[user]
        if number in inside and number not in terms[user] and graph.loops[number]
    }
    wanted = used.union(number for number in _sums(graph, shape) if number in inside)
    return any(number not in _sums(graph, shape) and wanted <= graph.needed_by([number]) for number in used)


def _elements(graph: TensorGraph, inside: set[int], user: int, shape: Shape) -> set[int]:
    """The ops of `inside` by which a loop outside of it would compute the elements of rows that it takes itself."""
    if graph.loops[user] is None:
        return set()
    by_element = {
        number
        for number in inside
        if (loops := graph.loops[number]) is None or (not loops.reduces and loops.extents == shape)
    }
    found = graph.needed_by(graph.needs[user], by_element)
    return found if any(graph.loops[number] for number in found) else set()


def _compute_terms(graph: TensorGraph, inside: set[int], user: int, shape: Shape) -> None:
    """Has a loop outside of `inside` take elements of rows from ops of its own."""
    op = graph.ops[user]
    values = graph.copied(_elements(graph, inside, user, shape), ir.InsertionPoint(op))
    for index, value in enumerate(op.operands):
        op.operands[index] = values.get(value, value)
