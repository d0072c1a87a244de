"""Makes one loop of those that gather elements and of those that compute with these, whatever of it is stored.

IREE would gather again for each result that is stored, and read positions from memory that several results need.
"""

from collections.abc import Mapping

from iree.compiler import ir

from dovetail.backends.worker.merged_loops import is_mergeable, merge
from dovetail.backends.worker.tensor_graph import LOOPS, TensorGraph
from dovetail.backends.worker.walk import clone, producer, walk

_JOINS = "tensor.collapse_shape"
_POSITIONS = 1
"""The loop of three along which elements are gathered."""
_PARTS = {0: (0,), _POSITIONS: (1, 2), 2: (3,)}
"""By loop, the loops that stand for it where positions are of two dimensions."""


def merge_gathers(block: ir.Block) -> None:
    """Merges what gathers in `block`, by extents, with what follows it element by element and what says positions.

    Positions that are computed row by row and column by column are two loops then: nothing is divided.
    """
    for extents in dict.fromkeys(_gathering(TensorGraph(block))):
        graph = TensorGraph(block)
        inside = _following(graph, extents)
        parts = _parts(graph, inside)
        if parts is None or not _is_closed(graph, inside):
            continue
        roots = [number for number in sorted(inside) if any(user not in inside for user in graph.users({number}))]
        made = _expanded(graph, inside, parts)
        last = made[graph.ops[max(inside)].results[0]].owner
        merged, stand = [made[graph.ops[number].results[0]] for number in roots], last
        for number in roots:
            old = graph.ops[number].results[0]
            stand = _joined(made[old], old.type, stand)
            old.replace_all_uses_with(stand.results[0])
        graph.move_behind(inside, stand)
        graph.erase_unused(inside)
        _merge(block, merged)


def _gathering(graph: TensorGraph) -> list[tuple[int, ...]]:
    """The extents of the loops that gather."""
    return [graph.extents(number) for number in range(len(graph.ops)) if _gathers(graph, number)]


def _gathers(graph: TensorGraph, number: int) -> bool:
    """Whether op `number` is a nest of three loops that reads elements at positions which it is given."""
    loops = graph.loops[number]
    if loops is None or loops.reduces or len(loops.extents) != len(_PARTS):
        return False
    return any(op.name == "tensor.extract" for op in walk(graph.ops[number]))


def _following(graph: TensorGraph, extents: tuple[int, ...]) -> set[int]:
    """The loops of `extents` that gather, those that take what these give, and those that give what these take."""
    found: set[int] = set()
    alike = {
        number
        for number, loops in enumerate(graph.loops)
        if loops is not None and loops.extents == extents and not loops.reduces and is_mergeable(graph, number)
    }
    for number in sorted(alike):
        if _gathers(graph, number) or not found.isdisjoint(graph.needs[number]):
            found.add(number)
    return found | (graph.needed_by(found, alike) & alike)


def _is_closed(graph: TensorGraph, inside: set[int]) -> bool:
    """Whether nothing that `inside` takes from elsewhere needs any of it."""
    beside = {need for number in inside for need in graph.needs[number]} - inside
    return graph.reached(beside).isdisjoint(inside)


def _parts(graph: TensorGraph, inside: set[int]) -> tuple[int, int] | None:
    """The extents of rows and columns of the positions that `inside` takes; None where any of it is not of such."""
    found: set[tuple[int, ...]] = set()
    for number in inside:
        op = graph.ops[number]
        for value, given in list(zip(op.operands, op.attributes["indexing_maps"], strict=True))[:-1]:
            along = tuple(index.position for index in given.value.results)
            if along == (_POSITIONS,):
                joined = producer(value)
                found.add(() if joined is None or joined.name != _JOINS else _shape(joined.operands[0]))
            elif along and graph.number(value) not in inside:
                return None
        if any(inner.name == "linalg.index" and _dim(inner) == _POSITIONS for inner in walk(op)):
            return None
    (only,) = found if len(found) == 1 else ((),)
    return (only[0], only[1]) if len(only) == 2 else None


def _shape(value: ir.Value) -> tuple[int, ...]:
    return tuple(ir.RankedTensorType(value.type).shape)


def _dim(op: ir.Operation) -> int:
    return ir.IntegerAttr(op.attributes["dim"]).value


def _expanded(graph: TensorGraph, inside: set[int], parts: tuple[int, int]) -> dict[ir.Value, ir.Value]:
    """The results of loops of four dimensions, by those of the ops `inside`, behind the last of which they stand."""
    made: dict[ir.Value, ir.Value] = {}
    point = ir.InsertionPoint.after(graph.ops[max(inside)])
    for number in sorted(inside):
        op = graph.ops[number]
        with op.location, point:
            made[op.results[0]] = _with_parts(op, made, parts)
    return made


def _with_parts(op: ir.Operation, made: Mapping[ir.Value, ir.Value], parts: tuple[int, int]) -> ir.Value:
    maps, operands = [], []
    for value, given in zip(op.operands, op.attributes["indexing_maps"], strict=True):
        along = [index.position for index in given.value.results]
        dims = [part for dim in along for part in _PARTS[dim]]
        maps.append(ir.AffineMapAttr.get(ir.AffineMap.get(4, 0, [ir.AffineDimExpr.get(dim) for dim in dims])))
        joined = producer(value)
        operands.append(joined.operands[0] if along == [_POSITIONS] and joined is not None else made.get(value, value))
    result = ir.RankedTensorType(op.results[0].type)
    sizes = [result.shape[0], *parts, result.shape[2]]
    type_ = ir.RankedTensorType.get(sizes, result.element_type)
    operands[-1] = ir.Operation.create("tensor.empty", results=[type_]).result
    loops = ir.Operation.create(
        LOOPS,
        results=[type_],
        operands=operands,
        attributes={
            "indexing_maps": ir.ArrayAttr.get(maps),
            "iterator_types": ir.ArrayAttr.get([*op.attributes["iterator_types"], op.attributes["iterator_types"][0]]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands) - 1, 1]),
        },
        regions=1,
    )
    body = op.regions[0].blocks[0]
    types = [argument.type for argument in body.arguments]
    block = loops.regions[0].blocks.append(*types, arg_locs=[op.location] * len(types))
    values = dict(zip(body.arguments, block.arguments, strict=True))
    for inner in [view.operation for view in body.operations]:
        copy = clone(inner, values, ir.InsertionPoint(block))
        if inner.name == "linalg.index":
            kind = ir.IntegerAttr(inner.attributes["dim"]).type
            copy.attributes["dim"] = ir.IntegerAttr.get(kind, _PARTS[_dim(inner)][0])
    return loops.results[0]


def _joined(value: ir.Value, type_: ir.Type, behind: ir.Operation) -> ir.Operation:
    """Makes one dimension of the two of positions of `value`."""
    groups = ir.Attribute.parse("[[0], [1, 2], [3]]")
    with behind.location, ir.InsertionPoint.after(behind):
        return ir.Operation.create(_JOINS, results=[type_], operands=[value], attributes={"reassociation": groups})


def _merge(block: ir.Block, values: list[ir.Value]) -> None:
    graph = TensorGraph(block)
    terms = {n for n, loops in enumerate(graph.loops) if loops and not loops.reduces and is_mergeable(graph, n)}
    roots = sorted(map(graph.number, values))
    inside = graph.needed_by(roots, terms)
    merged = merge(graph, roots, inside)
    graph.move_behind(inside, merged)
    graph.erase_unused(inside)
