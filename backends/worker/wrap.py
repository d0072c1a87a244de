"""Makes one kernel of what belongs together, in a text of IREE's phase `global-optimization`.

Where a value is used twice, IREE cuts, and stores it. Sums of rows and what needs them row by row become one dispatch
region here, which reads the rows once; sums along other dimensions compute their terms by ops of their own. A part of a
concatenation becomes one with what computes it, and is written where it belongs.
"""

from itertools import combinations

from iree.compiler import ir

from dovetail.backends.worker.configurations import columns, rows
from dovetail.backends.worker.merge_alike import merge_alike
from dovetail.backends.worker.merged_loops import inputs, is_mergeable, merge
from dovetail.backends.worker.tensor_graph import TensorGraph

_INSERT = "tensor.insert_slice"
_MOST_SUMS = 3
"""Of columns, in one kernel: more do not fit into its registers."""


def wrap(text: bytes) -> bytes:
    """`text` with such regions, where IREE would cut."""
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for function in module.body.operations:
            if function.operation.name == "util.func" and len(function.regions[0].blocks):
                _wrap_parts(function.regions[0].blocks[0])
                _wrap_rows(function.regions[0].blocks[0])
                _merge_columns(function.regions[0].blocks[0])
                merge_alike(function.regions[0].blocks[0])
        return str(module).encode()


def _wrap_parts(block: ir.Block) -> None:
    graph = TensorGraph(block)
    inserts = [number for number, op in enumerate(graph.ops) if op.name == _INSERT]
    by_element = {number for number, loops in enumerate(graph.loops) if loops is None or not loops.reduces}
    for number in inserts:
        part = graph.needed_by(graph.needs[number][:1], by_element)
        if any(graph.loops[each] for each in part):
            _enclose(graph, part | {number}, graph.ops[number].results)
    graph.erase_unused(graph.needed_by(number for insert in inserts for number in graph.needs[insert]))


def _wrap_rows(block: ir.Block) -> None:
    graph = TensorGraph(block)
    inside = _rows(graph)
    if not inside or not _is_cut(graph, inside) or not _has_root(graph, inside):
        return
    for user in graph.users(inside):
        _compute_terms(graph, inside, user)
    graph = TensorGraph(block)
    inside = _rows(graph)
    taken = {value for user in graph.users(inside) for value in graph.ops[user].operands}
    region = _enclose(graph, inside, [v for number in sorted(inside) for v in graph.ops[number].results if v in taken])
    graph.move_behind(inside, region)
    for number in sorted(inside, reverse=True):
        graph.ops[number].erase()


def _merge_columns(block: ir.Block) -> None:
    """Makes one loop of sums of columns that read the same, and of what computes their terms for them alone."""
    graph = TensorGraph(block)
    terms = {
        number
        for number, loops in enumerate(graph.loops)
        if loops and not loops.reduces and is_mergeable(graph, number) and not graph.is_stored(number)
    }
    groups = _column_groups(graph, terms)
    for sums in groups:
        merged = merge(graph, sums, terms)
        graph.move_behind(set(sums), merged)
    graph.erase_unused(graph.needed_by(number for sums in groups for number in sums))


def _column_groups(graph: TensorGraph, terms: set[int]) -> list[list[int]]:
    groups: dict[tuple, list[list[int]]] = {}
    for number, loops in enumerate(graph.loops):
        if not loops or columns(loops) is None or not is_mergeable(graph, number):
            continue
        read = inputs(graph, number, terms)
        alike = groups.setdefault((loops.extents, loops.reduced), [])
        found = next((each for each in alike if _can_join(graph, each, number, read, terms)), None)
        if found is None:
            alike.append([number])
        else:
            found.append(number)
    return [group for alike in groups.values() for group in alike]


def _can_join(graph: TensorGraph, group: list[int], number: int, read: set, terms: set[int]) -> bool:
    is_apart = not graph.reached([number]).intersection(group)
    return len(group) < _MOST_SUMS and is_apart and any(read & inputs(graph, each, terms) for each in group)


def _sums(graph: TensorGraph) -> list[int]:
    """The reductions of rows that have a form of ours, if all rows have one shape."""
    sums = [number for number, loops in enumerate(graph.loops) if loops and rows(loops) is not None]
    return sums if len({graph.extents(number) for number in sums}) == 1 else []


def _rows(graph: TensorGraph) -> set[int]:
    """Sums of rows, what they need, and what needs them row by row; nothing where that is not all plain."""
    sums = _sums(graph)
    if not sums:
        return set()
    shape = graph.extents(sums[0])
    allowed = {*sums} | {
        number
        for number, loops in enumerate(graph.loops)
        if loops is None or (not loops.reduces and loops.extents in (shape, shape[:-1]))
    }
    inside = graph.needed_by(sums)
    for number, loops in enumerate(graph.loops):
        needed = graph.needed_by([number]) if loops else set()
        if needed <= allowed and not needed.isdisjoint(sums):
            inside |= needed
    return inside if inside <= allowed and graph.is_closed(inside) else set()


def _is_cut(graph: TensorGraph, inside: set[int]) -> bool:
    """Whether IREE would: between sums of which none needs another, and before loops that take elements of rows."""
    sums = [number for number in _sums(graph) if number in inside]
    are_apart = any(first not in graph.needed_by([second]) for first, second in combinations(sums, 2))
    return are_apart or any(_elements(graph, inside, user) for user in graph.users(inside))


def _has_root(graph: TensorGraph, inside: set[int]) -> bool:
    """Whether all sums and all that is used elsewhere are needed by one op: IREE tiles a kernel from its last op."""
    terms = {user: _elements(graph, inside, user) for user in graph.users(inside)}
    used = {
        number
        for user in terms
        for number in graph.needs[user]
        if number in inside and number not in terms[user] and graph.loops[number]
    }
    wanted = used.union(number for number in _sums(graph) if number in inside)
    return any(number not in _sums(graph) and wanted <= graph.needed_by([number]) for number in used)


def _elements(graph: TensorGraph, inside: set[int], user: int) -> set[int]:
    """The ops of `inside` by which a loop outside of it would compute the elements of rows that it takes itself."""
    if graph.loops[user] is None:
        return set()
    shape = graph.extents(_sums(graph)[0])
    by_element = {
        number
        for number in inside
        if (loops := graph.loops[number]) is None or (not loops.reduces and loops.extents == shape)
    }
    found = graph.needed_by(graph.needs[user], by_element)
    return found if any(graph.loops[number] for number in found) else set()


def _compute_terms(graph: TensorGraph, inside: set[int], user: int) -> None:
    """Has a loop outside of `inside` take elements of rows from ops of its own."""
    op = graph.ops[user]
    values = graph.copied(_elements(graph, inside, user), ir.InsertionPoint(op))
    for index, value in enumerate(op.operands):
        op.operands[index] = values.get(value, value)


def _enclose(graph: TensorGraph, inside: set[int], results: list[ir.Value]) -> ir.Operation:
    """Makes, behind `inside`, a dispatch region of copies of it, whose results stand for `results` elsewhere."""
    region = ir.Operation.create(
        "flow.dispatch.region",
        results=[value.type for value in results],
        attributes={"operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 0])},
        regions=2,
        ip=ir.InsertionPoint.after(graph.ops[max(inside)]),
    )
    block = region.regions[0].blocks.append()
    values = graph.copied(inside, ir.InsertionPoint(block))
    ir.Operation.create("flow.return", operands=[values[value] for value in results], ip=ir.InsertionPoint(block))
    for value, result in zip(results, region.results, strict=True):
        value.replace_all_uses_with(result)
    return region
