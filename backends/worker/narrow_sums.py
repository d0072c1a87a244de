"""Sums of columns of open length that add up eight terms of float32 before they widen one to float64.

To widen a term takes as long as to add several. The loop is cut into eight parts of one length, whose terms are added
up by pairs. What is left, less than eight terms, is a sum of its own. Only sums that are asked for in float32 are added
up so: what stays float64, or is divided in it as a variance's mean is, neither rounds nor overflows as float32 does.
"""

from collections.abc import Sequence

from iree.compiler import ir
from iree.compiler.dialects import tensor

from dovetail.backends.worker.loops import OPEN, Loops
from dovetail.backends.worker.read_loops import read_loops
from dovetail.backends.worker.terms import PARTS, Terms, index, loops, read_terms
from dovetail.backends.worker.tiles import Blocks, config
from dovetail.backends.worker.walk import create

_MOST = 8
"""Operations on a term up to which registers hold what all parts need."""

_COLUMNS = {512: 128, 256: 32}
"""Columns, which have a sum each in registers, by the bits of a vector."""


def add_narrow_first(ops: Sequence[ir.Operation], vector_bits: int) -> bool:
    """Puts such a sum in the place of the first of `ops`, the loops of a kernel; whether it is one of those."""
    op, *after = ops
    nest = read_loops(op, takes_open=True)
    if nest is None or not _adds_columns(nest) or (terms := read_terms(op, _MOST)) is None or not terms.is_widened:
        return False
    outer = len(nest.extents) - 1
    if not _is_narrowed(op.results[0]) or not all(_takes_sums(each, outer) for each in after):
        return False
    ones, along, wide = [1] * (outer - 1), nest.reduced.index(True), _COLUMNS[vector_bits]
    tile = [*ones, wide]
    tile.insert(along, 0)
    steps = [int(loop == along) for loop in range(outer + 1)]
    with op.location:
        of_parts, total = _replaced(op, along, terms)
    for each in (op, of_parts):
        each.attributes["lowering_config"] = config(vector_common_parallel=tile, vector_reduction=steps)
    after = [op.operands[len(op.operands) - 1].owner, total, *after]
    for each in after[:-1]:
        each.attributes["lowering_config"] = config(vector_common_parallel=[*ones, wide])
    # IREE tiles the other ops by those levels alone that this one names.
    form = Blocks((*ones, wide), (*ones, wide), (0,) * outer)
    after[-1].attributes["compilation_info"] = ir.Attribute.parse(form.attribute())
    return True


def _adds_columns(nest: Loops) -> bool:
    """Whether columns of several numbers are added up, along one loop of open length."""
    if sum(nest.reduced) != 1 or len(nest.extents) < 2 or nest.extents[nest.reduced.index(True)] != OPEN:
        return False
    return nest.inner == {max(loop for loop, each in enumerate(nest.reduced) if not each)}


def _is_narrowed(total: ir.Value) -> bool:
    """Whether all that reads sums of float64 takes them as float32: loops, since what stores them does not."""
    readers = [(use.owner.operation, use.operand_number) for use in total.uses]
    if not all("iterator_types" in op.attributes for op, _ in readers):
        return False
    reads = [
        each.owner.operation for op, operand in readers for each in op.regions[0].blocks[0].arguments[operand].uses
    ]
    return bool(reads) and all(each.name == "arith.truncf" for each in reads)


def _takes_sums(op: ir.Operation, rank: int) -> bool:
    """Whether `op` computes a number of each sum."""
    nest = read_loops(op, takes_open=True)
    maps = [each.value for each in op.attributes["indexing_maps"] if each.value.results]
    identity = ir.AffineMap.get_identity(rank, op.context)
    return nest is not None and not nest.reduces and all(map_ == identity for map_ in maps)


def _replaced(op: ir.Operation, along: int, terms: Terms) -> tuple[ir.Operation, ir.Operation]:
    """What adds up the parts, and adds to this what is left, which `op` adds up from now on."""
    *maps, of_sum = [each.value for each in op.attributes["indexing_maps"]]
    *taken, start = op.operands
    at = [next((dim for dim, each in enumerate(map_.results) if each.position == along), None) for map_ in maps]
    with ir.InsertionPoint(op):
        length = next(tensor.dim(value, index(dim)) for value, dim in zip(taken, at, strict=True) if dim is not None)
        # No affine map: IREE would not see that all but the last of a part's vectors are whole.
        part = create("arith.divui", length.type, length, index(PARTS))
        offsets = [create("arith.muli", length.type, part, index(number)) for number in range(PARTS + 1)]
        left = create("arith.subi", length.type, length, offsets[-1])
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
        kinds = ["reduction" if dim == along else "parallel" for dim in range(of_sum.n_dims)]
        of_parts = loops(inputs, start, [*read, of_sum], kinds)
        identity = ir.AffineMap.get_identity(len(of_sum.results))
        both = [op.results[0], of_parts.results[0]]
        total = loops(both, start.owner.operands[1], [identity] * 3, ["parallel"] * identity.n_dims)
    terms.fill(of_parts, op, [len(values) for values in parts])
    terms.fill_with_two(total)
    op.results[0].replace_all_uses_except(total.results[0], total)
    return of_parts, total


def _slice(value: ir.Value, dim: int, offset: ir.Value, size: ir.Value) -> ir.Value:
    """As much of `value` as `size` says, along its dimension `dim`."""
    type_, open_ = ir.RankedTensorType(value.type), ir.ShapedType.get_dynamic_size()
    dims = range(type_.rank)
    sizes = [size if each == dim else tensor.dim(value, index(each)) for each in dims if type_.is_dynamic_dim(each)]
    offsets = [open_ if each == dim else 0 for each in dims]
    return tensor.ExtractSliceOp(type_, value, [offset], sizes, [], offsets, list(type_.shape), [1] * type_.rank).result
