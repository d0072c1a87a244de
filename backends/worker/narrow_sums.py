"""Sums of an open number of terms of float32, in float64, that add up eight terms in float32 before they widen one.

To widen a term takes as long as to add several. The loop is cut into eight parts of one length, whose terms are added
up by pairs. What is left, less than eight terms, is a sum of its own.
"""

from collections.abc import Iterator, Sequence

from iree.compiler import ir
from iree.compiler.dialects import linalg, tensor

from dovetail.backends.worker.loops import OPEN, Loops
from dovetail.backends.worker.read_loops import read_loops
from dovetail.backends.worker.tiles import Blocks, config
from dovetail.backends.worker.walk import clone, create, producer

_PARTS, _MOST = 8, 8
"""Parts of a loop; operations on a term up to which registers hold what all parts need."""

_ROWS = 32
"""Rows that a thread is given at once."""

_COLUMNS, _NUMBERS = {512: 128, 256: 32}, {512: 128, 256: 64}
"""Columns, which have a sum each in registers, and numbers of a row that are taken at once, by the bits of a vector."""


def add_narrow_first(ops: Sequence[ir.Operation], vector_bits: int) -> bool:
    """Puts such a sum in the place of the first of `ops`, the loops of a kernel; whether it is one of those."""
    op, *after = ops
    loops = read_loops(op, takes_open=True)
    if loops is None or not _is_open(loops) or (widened := _widened(op)) is None:
        return False
    outer = len(loops.extents) - 1
    if not all(_takes_sums(each, outer) for each in after):
        return False
    ones, along = [1] * (outer - 1), loops.reduced.index(True)
    step, piece, vector = 1, _COLUMNS[vector_bits], _COLUMNS[vector_bits]
    if loops.reduces_rows:
        step, piece, vector = _NUMBERS[vector_bits], _ROWS, 1
    tile = [*ones, vector]
    tile.insert(along, 0)
    with op.location:
        of_parts, total = _replaced(op, along, widened)
    for each, count in ((op, 1), (of_parts, step)):
        steps = [count if loop == along else 0 for loop in range(outer + 1)]
        each.attributes["lowering_config"] = config(vector_common_parallel=tile, vector_reduction=steps)
    after = [op.operands[len(op.operands) - 1].owner, total, *after]
    for each in after[:-1]:
        each.attributes["lowering_config"] = config(vector_common_parallel=[*ones, vector])
    # IREE tiles the other ops by those levels alone that this one names.
    form = Blocks((*ones, piece), (*ones, vector), (0,) * outer)
    after[-1].attributes["compilation_info"] = ir.Attribute.parse(form.attribute())
    return True


def _is_open(loops: Loops) -> bool:
    """Whether rows or columns of several numbers are added up, along one loop of open length."""
    if sum(loops.reduced) != 1 or len(loops.extents) < 2 or loops.extents[loops.reduced.index(True)] != OPEN:
        return False
    columns = max(loop for loop, each in enumerate(loops.reduced) if not each)
    return loops.reduces_rows or loops.inner == {columns}


def _widened(op: ir.Operation) -> ir.Operation | None:
    """The op that widens the term that `op` adds to its sum, from 0; None where it does anything else."""
    *computed, yielded = (each.operation for each in op.regions[0].blocks[0].operations)
    start, added = producer(op.operands[len(op.operands) - 1]), producer(yielded.operands[0])
    if start is None or start.name != "linalg.fill" or len(op.results) != 1 or len(computed) > _MOST + 2:
        return None
    zero = producer(start.operands[0])
    if zero is None or ir.FloatAttr(zero.attributes["value"]).value != 0:
        return None
    if added is None or added.name != "arith.addf":
        return None
    sum_ = op.regions[0].blocks[0].arguments[len(op.operands) - 1]
    terms = [made for value in added.operands if value != sum_ and (made := producer(value)) is not None]
    if len(terms) != 1 or terms[0].name != "arith.extf" or sum_ not in added.operands:
        return None
    # Half precision is widened at once, too, and must not be added up.
    return terms[0] if (str(terms[0].operands[0].type), str(sum_.type)) == ("f32", "f64") else None


def _takes_sums(op: ir.Operation, rank: int) -> bool:
    """Whether `op` computes a number of each sum."""
    loops = read_loops(op, takes_open=True)
    maps = [each.value for each in op.attributes["indexing_maps"]]
    identity = ir.AffineMap.get_identity(rank, op.context)
    return loops is not None and not loops.reduces and all(map_ == identity for map_ in maps)


def _replaced(op: ir.Operation, along: int, widened: ir.Operation) -> tuple[ir.Operation, ir.Operation]:
    """What adds up the parts, and adds to this what is left, which `op` adds up from now on."""
    *maps, of_sum = [each.value for each in op.attributes["indexing_maps"]]
    *taken, start = op.operands
    at = [next((dim for dim, each in enumerate(map_.results) if each.position == along), None) for map_ in maps]
    with ir.InsertionPoint(op):
        index = ir.IndexType.get()
        length = next(tensor.dim(value, _index(dim)) for value, dim in zip(taken, at, strict=True) if dim is not None)
        # No affine map: IREE would not see that all but the last of a part's vectors are whole.
        part = create("arith.divui", index, length, _index(_PARTS))
        offsets = [create("arith.muli", index, part, _index(number)) for number in range(_PARTS + 1)]
        left = create("arith.subi", index, length, offsets[-1])
        parts = [
            [value] if dim is None else [_slice(value, dim, offset, part) for offset in offsets[:-1]]
            for value, dim in zip(taken, at, strict=True)
        ]
        for number, (value, dim) in enumerate(zip(taken, at, strict=True)):
            if dim is not None:
                op.operands[number] = _slice(value, dim, offsets[-1], left)
    with ir.InsertionPoint.after(op):
        inputs = [value for values in parts for value in values]
        read = [map_ for map_, values in zip(maps, parts, strict=True) for _ in values]
        of_parts = _loop(inputs, start, [*read, of_sum], op.attributes["iterator_types"])
        identity = ir.AffineMap.get_identity(len(of_sum.results))
        parallel = ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * len(of_sum.results))
        sums = [op.results[0], of_parts.results[0]]
        total = _loop(sums, start.owner.operands[1], [identity] * 3, parallel)
    _fill(of_parts, op, [len(values) for values in parts], widened)
    block = total.regions[0].blocks[0]
    with ir.InsertionPoint(block):
        linalg.YieldOp([create("arith.addf", block.arguments[0].type, *list(block.arguments)[:2])])
    op.results[0].replace_all_uses_except(total.results[0], total)
    return of_parts, total


def _loop(inputs: Sequence[ir.Value], out: ir.Value, maps: Sequence[ir.AffineMap], kinds: ir.Attribute) -> ir.Operation:
    """Loops without a body."""
    attributes = ir.ArrayAttr.get([ir.AffineMapAttr.get(map_) for map_ in maps])
    made = linalg.GenericOp([out.type], inputs, [out], attributes, kinds)
    made.regions[0].blocks.append(*(ir.ShapedType(value.type).element_type for value in (*inputs, out)))
    return made.operation


def _fill(made: ir.Operation, op: ir.Operation, counts: Sequence[int], widened: ir.Operation) -> None:
    """Has `made` add up each part's term, which it computes as `op` does; an operand has one value for all, or each."""
    block, source = made.regions[0].blocks[0], op.regions[0].blocks[0]
    *_, sum_ = block.arguments
    at = ir.InsertionPoint(block)

    def term(part: int) -> ir.Value:
        taken: Iterator[ir.Value] = iter(block.arguments)
        values = {}
        for argument, count in zip(source.arguments, [*counts, 1], strict=True):
            values[argument] = [next(taken) for _ in range(count)][min(part, count - 1)]
        for each in source.operations:
            if each.operation == widened:
                break
            clone(each.operation, values, at)
        return values.get(widened.operands[0], widened.operands[0])

    terms = [term(part) for part in range(_PARTS)]
    with at:
        while len(terms) > 1:
            pairs = zip(terms[::2], terms[1::2], strict=True)
            terms = [create("arith.addf", one.type, one, other) for one, other in pairs]
        linalg.YieldOp([create("arith.addf", sum_.type, create("arith.extf", sum_.type, terms[0]), sum_)])


def _index(number: int) -> ir.Value:
    type_ = ir.IndexType.get()
    return create("arith.constant", type_, value=ir.IntegerAttr.get(type_, number))


def _slice(value: ir.Value, dim: int, offset: ir.Value, size: ir.Value) -> ir.Value:
    """As much of `value` as `size` says, along its dimension `dim`."""
    type_, open_ = ir.RankedTensorType(value.type), ir.ShapedType.get_dynamic_size()
    dims = range(type_.rank)
    sizes = [size if each == dim else tensor.dim(value, _index(each)) for each in dims if type_.is_dynamic_dim(each)]
    offsets = [open_ if each == dim else 0 for each in dims]
    return tensor.ExtractSliceOp(type_, value, [offset], sizes, [], offsets, list(type_.shape), [1] * type_.rank).result
