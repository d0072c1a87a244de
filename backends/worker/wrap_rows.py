"""Makes one kernel of sums of rows and what needs them row by row, which reads the rows once."""

from itertools import combinations

from iree.compiler import ir

from dovetail.backends.worker.configurations import rows
from dovetail.backends.worker.loops import Loops
from dovetail.backends.worker.parts import enclose
from dovetail.backends.worker.tensor_graph import TensorGraph

Shape = tuple[int, ...]


def wrap_rows(block: ir.Block) -> None:
    """Puts into one dispatch region what IREE would cut, of the rows of each shape."""
    for shape in _shapes(TensorGraph(block)):
        _wrap(block, shape)


def _wrap(block: ir.Block, shape: Shape) -> None:
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
