"""Reductions of rows of open length that go by blocks of 128 numbers: of eight vectors of 16 lanes.

The vectors are taken together first, in float32, and each lane by itself after that: IREE would take lanes together in
each step, where it doesn't know that vectors fill a row, and widen each term of a sum in float64.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from iree.compiler import ir
from iree.compiler.dialects import linalg, tensor

from dovetail.backends.worker.merged_loops import inputs, is_mergeable, merge
from dovetail.backends.worker.tensor_graph import TensorGraph
from dovetail.backends.worker.terms import PARTS, Terms, index, loops, read_terms
from dovetail.backends.worker.walk import create, producer

LANES = 16
_BLOCK = PARTS * LANES
_MOST = 48
"""Operations on a term."""
_OPEN = ir.ShapedType.get_dynamic_size()


@dataclass(frozen=True)
class InLanes:
    """What stands for an op: `of_lanes` over blocks, `across` over lanes, `rest` over what is left, `total` of both."""

    rest: ir.Operation
    of_lanes: ir.Operation
    across: ir.Operation
    total: ir.Operation


def goes_in_lanes(op: ir.Operation) -> bool:
    """Whether `op`, which reduces rows of open length, can go so: its rows are no other loop's of the kernel."""
    maps = [each.value for each in op.attributes["indexing_maps"]]
    whole = [value for value, map_ in zip(op.operands, maps, strict=True) if len(map_.results) == map_.n_dims]
    return read_terms(op, _MOST) is not None and not any(map(_is_computed, whole))


def with_own_terms(op: ir.Operation) -> ir.Operation:
    """`op`, a loop that reduces, or one in its place that computes along the way what other loops compute of rows."""
    graph = TensorGraph(op.block, takes_open=True)
    number = graph.ops.index(op)
    beside = {
        each
        for each, found in enumerate(graph.loops)
        if found and not found.reduces and found.extents == graph.extents(number) and is_mergeable(graph, each)
    }
    inside = graph.needed_by([number], beside | {number}) - {number}
    rank = len(graph.extents(number))
    if not inside or any(_is_computed(value) for value, dims in inputs(graph, number, inside) if len(dims) == rank):
        return op
    merged = merge(graph, [number], inside)
    graph.erase_unused({number} | inside)
    return merged


def _is_computed(value: ir.Value) -> bool:
    """Whether a loop of the kernel computes `value`."""
    made = producer(value)
    return made is not None and made.name.startswith("linalg.")


def in_lanes(op: ir.Operation) -> InLanes:
    """Puts such ops in the place of `op`."""
    terms = read_terms(op, _MOST)
    assert terms is not None
    with op.location:
        return _in_lanes(op, terms)


def _in_lanes(op: ir.Operation, terms: Terms) -> InLanes:
    *maps, of_total = [each.value for each in op.attributes["indexing_maps"]]
    *taken, start = op.operands
    rank, outer = of_total.n_dims, list(range(of_total.n_dims - 1))
    along = [bool(map_.results) and map_.results[-1].position == rank - 1 for map_ in maps]
    parts: list[list[ir.Value]] = []
    with ir.InsertionPoint(op):
        row = taken[along.index(True)]
        length = tensor.dim(row, index(ir.RankedTensorType(row.type).rank - 1))
        count = create("arith.divui", length.type, length, index(_BLOCK))
        whole = create("arith.muli", length.type, count, index(_BLOCK))
        left = create("arith.subi", length.type, length, whole)
        for number, value in enumerate(taken):
            parts.append(_parts(_slice(value, index(0), whole), count) if along[number] else [value])
            op.operands[number] = _slice(value, whole, left) if along[number] else value
    with ir.InsertionPoint.after(op):
        of_all = [
            _map(rank + 1, [*_dims(map_), rank] if each else _dims(map_))
            for map_, each in zip(maps, along, strict=True)
        ]
        read = [map_ for map_, values in zip(of_all, parts, strict=True) for _ in values]
        kinds, filled = ["parallel"] * len(outer), start.owner
        empty = tensor.empty([*_sizes(start), LANES], ir.RankedTensorType(start.type).element_type)
        starts = linalg.fill(filled.operands[0], outs=[empty])
        values = [value for each in parts for value in each]
        of_lanes = loops(values, starts, [*read, _map(rank + 1, [*outer, rank])], [*kinds, "reduction", "parallel"])
        across = loops([of_lanes.results[0]], start, [_map(rank, range(rank)), of_total], [*kinds, "reduction"])
        both = [op.results[0], across.results[0]]
        total = loops(both, filled.operands[1], [_map(rank - 1, outer)] * 3, kinds)
    terms.fill(of_lanes, op, [len(each) for each in parts])
    terms.fill_with_two(across)
    terms.fill_with_two(total)
    op.results[0].replace_all_uses_except(total.results[0], total)
    return InLanes(op, of_lanes, across, total)


def _map(rank: int, dims: Sequence[int]) -> ir.AffineMap:
    return ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(dim) for dim in dims])


def _dims(map_: ir.AffineMap) -> list[int]:
    return [each.position for each in map_.results]


def _sizes(value: ir.Value) -> list[int | ir.Value]:
    type_ = ir.RankedTensorType(value.type)
    return [
        tensor.dim(value, index(dim)) if type_.is_dynamic_dim(dim) else type_.shape[dim] for dim in range(type_.rank)
    ]


def _slice(value: ir.Value, offset: ir.Value, size: ir.Value) -> ir.Value:
    """As much of each row of `value` as `size` says."""
    *rows, _ = _sizes(value)
    return _extract(value, [offset], [*rows, size])


def _parts(rows: ir.Value, count: ir.Value) -> list[ir.Value]:
    """The vectors of `count` blocks, each of `rows`, by their position in it."""
    type_ = ir.RankedTensorType(rows.type)
    rank, shape = type_.rank, [*list(type_.shape)[:-1], _OPEN, _BLOCK]
    groups = [*([dim] for dim in range(rank - 1)), [rank - 1, rank]]
    sizes = [*(each for each in _sizes(rows)[:-1] if not isinstance(each, int)), count]
    blocks = tensor.expand_shape(ir.RankedTensorType.get(shape, type_.element_type), rows, groups, sizes, shape)
    *outer, _ = _sizes(blocks)
    return [_extract(blocks, [part * LANES], [*outer, LANES]) for part in range(PARTS)]


def _extract(value: ir.Value, offset: list[int | ir.Value], sizes: Sequence[int | ir.Value]) -> ir.Value:
    """A slice of `value`, of all but its last dimension from their beginning."""
    type_ = ir.RankedTensorType(value.type)
    offsets = [0] * (type_.rank - 1) + offset
    stated = [[each if isinstance(each, int) else _OPEN for each in numbers] for numbers in (offsets, sizes)]
    given = [[each for each in numbers if not isinstance(each, int)] for numbers in (offsets, sizes)]
    made = ir.RankedTensorType.get(stated[1], type_.element_type)
    return tensor.ExtractSliceOp(made, value, *given, [], *stated, [1] * type_.rank).result
