"""Makes one loop of several: what computes their terms becomes part of it, and its results are those of all."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from iree.compiler import ir

from dovetail.backends.worker.tensor_graph import LOOPS, TensorGraph
from dovetail.backends.worker.walk import clone

Dims = tuple[int, ...]


def merge(graph: TensorGraph, roots: Sequence[int], inside: set[int]) -> ir.Operation:
    """One op in place of the loops `roots`, of the same extents, behind the last; the other ops stay.

    `inside` are loops that reduce nothing; what roots need of them is computed along the way.
    """
    last = graph.ops[max(roots)]
    made = _Merged(graph, inside | set(roots), len(graph.extents(roots[0])))
    own = tuple(range(made.rank))
    for root in roots:
        made.compute(root, own)
    outs = [graph.ops[root].operands[len(graph.ops[root].operands) - 1] for root in roots]
    maps = [*(made.map(dims) for _, dims in made.inputs), *(made.map(_dims(graph.ops[root], -1)) for root in roots)]
    with last.location, ir.InsertionPoint.after(last):
        op = ir.Operation.create(
            LOOPS,
            results=[graph.ops[root].results[0].type for root in roots],
            operands=[*(value for value, _ in made.inputs), *outs],
            attributes={
                "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps]),
                "iterator_types": graph.ops[roots[0]].attributes["iterator_types"],
                "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(made.inputs), len(outs)]),
            },
            regions=1,
        )
    types = [getattr(value.type, "element_type", value.type) for value in op.operands]
    block = op.regions[0].blocks.append(*types, arg_locs=[last.location] * len(types))
    made.write(block, roots)
    for root, result in zip(roots, op.results, strict=True):
        graph.ops[root].results[0].replace_all_uses_with(result)
    return op


def inputs(graph: TensorGraph, number: int, inside: set[int]) -> set[tuple[ir.Value, Dims]]:
    """What loop `number` reads, and along which of its loops, where those of `inside` are part of it."""
    made = _Merged(graph, inside, len(graph.extents(number)))
    made.compute(number, tuple(range(made.rank)))
    return set(made.inputs)


def is_mergeable(graph: TensorGraph, number: int) -> bool:
    """Whether op `number` is a loop of one result, written in order; it reads old contents only if it reduces."""
    op, loops = graph.ops[number], graph.loops[number]
    if loops is None or len(op.results) != 1:
        return False
    if loops.reduces:
        return True
    body = op.regions[0].blocks[0]
    is_in_order = _dims(op, -1) == tuple(range(len(loops.extents)))
    return is_in_order and not list(body.arguments[len(body.arguments) - 1].uses)


@dataclass
class _Merged:
    """The parts of the new op: its inputs, each with the loops along which it lies, and its computations in order."""

    graph: TensorGraph
    inside: set[int]
    rank: int
    inputs: list[tuple[ir.Value, Dims]] = field(default_factory=list)
    order: list[tuple[int, Dims]] = field(default_factory=list)

    def compute(self, number: int, dims: Dims) -> None:
        """Adds op `number`, whose loops are `dims` of ours, behind what it needs."""
        if (number, dims) in self.order:
            return
        op = self.graph.ops[number]
        for index, value in enumerate(list(op.operands)[:-1]):
            along = tuple(dims[dim] for dim in _dims(op, index))
            made = self.graph.number(value)
            if made in self.inside and self.graph.loops[made]:
                self.compute(made, along)
            elif (value, along) not in self.inputs:
                self.inputs.append((value, along))
        self.order.append((number, dims))

    def map(self, dims: Dims) -> ir.AffineMap:
        return ir.AffineMap.get(self.rank, 0, [ir.AffineDimExpr.get(dim) for dim in dims])

    def write(self, block: ir.Block, roots: Sequence[int]) -> None:
        """Writes all computations into `block`, whose arguments are the inputs and what the roots start from."""
        given = dict(zip(self.inputs, block.arguments, strict=False))
        starts = dict(zip(roots, list(block.arguments)[len(self.inputs) :], strict=True))
        done: dict[tuple[int, Dims], ir.Value] = {}
        point = ir.InsertionPoint(block)
        for number, dims in self.order:
            op = self.graph.ops[number]
            body = op.regions[0].blocks[0]
            values: dict[ir.Value, ir.Value] = {}
            for index, value in enumerate(list(op.operands)[:-1]):
                along = tuple(dims[dim] for dim in _dims(op, index))
                made = self.graph.number(value)
                values[body.arguments[index]] = done[made, along] if (made, along) in done else given[value, along]
            if number in starts:
                values[body.arguments[len(body.arguments) - 1]] = starts[number]
            *computing, end = [view.operation for view in body.operations]
            for inner in computing:
                copy = clone(inner, values, point)
                if inner.name == "linalg.index":
                    stated = ir.IntegerAttr(inner.attributes["dim"])
                    copy.attributes["dim"] = ir.IntegerAttr.get(stated.type, dims[stated.value])
            done[number, dims] = values.get(end.operands[0], end.operands[0])
        own = tuple(range(self.rank))
        ir.Operation.create("linalg.yield", operands=[done[root, own] for root in roots], ip=point)


def _dims(op: ir.Operation, index: int) -> Dims:
    """The loops of `op` along which an operand lies."""
    return tuple(result.position for result in list(op.attributes["indexing_maps"])[index].value.results)
