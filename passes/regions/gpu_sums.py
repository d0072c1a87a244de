"""How GPUs add up: by many threads at once, each a few numbers; a sum of very many is one of partial sums.

Where no kernel has many threads for a sum, one thread adds up the numbers of each result, one after the other. It does
so in float64, and where there are many numbers, ATen does it (`passes/placement/slow_reductions.py`).
"""

from collections.abc import Iterator, Sequence
from math import prod

from torch_mlir import ir

from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.types import require_tensor_info, with_dtype, with_shape
from dovetail.passes.regions.summation_order import IN_A_ROW
from dovetail.passes.rewriting.cloning import constant_none
from dovetail.passes.rewriting.constants import cast, constant, dtype_number, integer_list
from dovetail.passes.rewriting.reductions import reduced_dims
from dovetail.passes.rewriting.rules import create, shape

_SUM = "torch.aten.sum.dim_IntList"

MOST_IN_A_ROW = 65_536
"""Numbers that the registers of one workgroup hold."""
MOST_BY_ONE = 256
"""Numbers that one thread may reduce, one after the other."""
_LANES = 32
"""Threads that share a row."""
_OF_DEFAULT_TILES = 8192
"""Numbers of a row up to which IREE's own tiles are exact enough: a lane adds up a few hundred."""
_LEAST = 1024
"""Numbers of a block that are worth a workgroup."""
_ROWS_FOR_ALL = 128
"""Workgroups below which a GPU stands idle in part."""

COLUMN_TILE = 16
"""Columns that a workgroup takes at once."""
ROW_TILE = 64
"""Rows that it takes at once."""
_WORKGROUPS = 528
_ADDED_BY_A_TILE = 16_384
"""Rows after which what a thread adds up one after the other is too much rounded."""


def gpu_sum(op: ir.Operation) -> ir.Value | None:
    """The sum `op` in a form of which a GPU's threads have an equal share each; None where it has that form.

    Truth values are counted in float32, which is exact up to 2^24: IREE compiles no such sum of theirs.
    """
    source, result = require_tensor_info(op.operands[0].type), require_tensor_info(op.results[0].type)
    if (source.dtype, result.dtype) != ("bool", "int64") or not source.numel or source.numel > 1 << 24:
        return _summed(op)
    operands = [cast(op.operands[0], "float32"), *list(op.operands)[1:-1], constant_none()]
    counted = create(op.name, operands, with_dtype(op.results[0].type, "float32"))
    in_parts = _summed(counted.owner)
    return cast(counted if in_parts is None else in_parts, "int64")


def gpu_mean(op: ir.Operation) -> ir.Value | None:
    """The mean `op` by such a sum."""
    total = _summed(op)
    if total is None:
        return None
    count = prod(shape(op.operands[0])) // max(prod(shape(op.results[0])), 1)
    return create("torch.aten.div.Scalar", [total, constant(float(count))], total.type)


def mean_in_single(op: ir.Operation) -> ir.Value | None:
    """float32 that is made of a mean in float64 of float32, by a mean in float32; None for any other conversion.

    Many threads add up a few numbers each, so that what is wide on a CPU costs accuracy nothing here, and much time.
    """
    quotient = made_by(op.operands[0], "torch.aten.div.Scalar")
    total = None if quotient is None else made_by(quotient.operands[0], _SUM)
    result = require_tensor_info(op.results[0].type)
    if quotient is None or total is None or result.dtype != "float32":
        return None
    source, sum_ = require_tensor_info(total.operands[0].type), require_tensor_info(total.results[0].type)
    if source.dtype != "float32" or sum_.dtype != "float64":
        return None
    operands = [*total.operands[:3], constant_none()]
    narrow = create(_SUM, operands, with_dtype(total.results[0].type, "float32"))
    return create("torch.aten.div.Scalar", [narrow, quotient.operands[1]], op.results[0].type)


def row_form(outer: int, count: int) -> bool:
    """Whether many threads reduce each of `outer` rows of `count` numbers, in parts if they must.

    IREE gives one thread a single row that they do not divide.
    """
    if count % _LANES:
        return outer > 1 and count <= MOST_IN_A_ROW
    if count > MOST_IN_A_ROW:
        return any(_blocks_of_row(outer, count))
    return count <= _OF_DEFAULT_TILES or count % (4 * _LANES) == 0


def column_form(count: int, inner: int) -> bool:
    """Whether many threads reduce each of `inner` columns of `count` numbers."""
    return inner % COLUMN_TILE == 0 and count % ROW_TILE == 0


def _summed(op: ir.Operation) -> ir.Value | None:
    source, result = require_tensor_info(op.operands[0].type), require_tensor_info(op.results[0].type)
    if not source.is_floating_point or source.dtype != result.dtype or not source.numel:
        return None
    dims = reduced_dims(op)
    if not dims:
        return None
    negation = made_by(op.operands[0], "torch.aten.neg")
    if negation is not None:
        return _negated(op, negation.operands[0], dims)
    if dims != list(range(dims[0], dims[-1] + 1)):
        numbers = prod(source.shape[dim] for dim in dims)
        return _wide(op, dims) if source.dtype == "float32" and numbers > IN_A_ROW else None
    outer, count = prod(source.shape[: dims[0]]), prod(source.shape[dims[0] : dims[-1] + 1])
    inner = prod(source.shape[dims[-1] + 1 :])
    has_form = row_form(outer, count) if inner == 1 else column_form(count, inner)
    if not has_form and count > IN_A_ROW and source.dtype == "float32":
        return _wide(op, dims)
    block = _block_of_row(outer, count, source.shape, dims) if inner == 1 else _block_of_column(outer, count, inner)
    if block is None:
        return None
    cut = _cut(source.shape, dims, block) if inner == 1 else None
    if cut is None:
        blocks = _with_shape(op.operands[0], [outer, count // block, block, inner])
        return _with_shape(_added(_added(blocks, [2]), [1], outer * inner), shape(op.results[0]))
    place, rows = cut
    sizes = source.shape
    blocks = _with_shape(op.operands[0], [*sizes[:place], sizes[place] // rows, rows, *sizes[place + 1 :]])
    parts = _added(blocks, range(place + 1, dims[-1] + 2))
    return _with_shape(_added(parts, range(dims[0], place + 1), outer), shape(op.results[0]))


def _block_of_row(outer: int, count: int, sizes: Sequence[int], dims: Sequence[int]) -> int | None:
    """How many neighbours to add up first, those of whole dimensions if they can be; None for all."""
    blocks = list(_blocks_of_row(outer, count))
    whole = (block for block in blocks if block >= _LEAST and _cut(sizes, dims, block) is not None)
    return next(whole, blocks[0] if blocks else None)


def _blocks_of_row(outer: int, count: int) -> Iterator[int]:
    """The blocks that a row may be cut in, the largest first; none where all of it is added up at once.

    Of one row, no more parts than one thread adds up, or as many as threads share.
    """
    if count <= MOST_IN_A_ROW and (outer >= _ROWS_FOR_ALL or count <= 2 * 4096):
        return
    for block in range(MOST_IN_A_ROW // 4 if count > MOST_IN_A_ROW else 4096, 0, -4 * _LANES):
        parts = count // block
        if count % block == 0 and (outer > 1 or parts <= MOST_BY_ONE or parts % _LANES == 0):
            yield block


def _cut(sizes: Sequence[int], dims: Sequence[int], block: int) -> tuple[int, int] | None:
    """The one dimension that is cut to make blocks, and in pieces of how many; None where several would be merged.

    What computes the numbers is then part of the same kernel.
    """
    for place in reversed(dims):
        if block <= sizes[place]:
            return (place, block) if sizes[place] % block == 0 else None
        if block % sizes[place]:
            return None
        block //= sizes[place]
    return None


def _block_of_column(outer: int, count: int, inner: int) -> int | None:
    """How many rows to add up first, so that there is work for all of a GPU; None for all."""
    if not column_form(count, inner):
        return None
    block = count
    while block % (2 * ROW_TILE) == 0 and (
        block > _ADDED_BY_A_TILE or outer * (count // block) * (inner // COLUMN_TILE) < _WORKGROUPS
    ):
        block //= 2
    return block if block < count else None


def _negated(op: ir.Operation, value: ir.Value, dims: list[int]) -> ir.Value:
    """0 less the sum of `value`: of negated numbers IREE makes a subtraction, which it can't share out."""
    total = _whole(op, value, dims, constant_none(), op.results[0].type)
    in_parts = _summed(total.owner)
    total = total if in_parts is None else in_parts
    return create("torch.aten.rsub.Scalar", [total, constant(0), constant(1)], total.type)


def _wide(op: ir.Operation, dims: list[int]) -> ir.Value:
    """The sum `op` over `dims`, added up in float64."""
    wide = with_dtype(op.results[0].type, "float64")
    return cast(_whole(op, op.operands[0], dims, dtype_number("float64"), wide), "float32")


def _whole(op: ir.Operation, value: ir.Value, dims: list[int], dtype: ir.Value, type_: ir.Type) -> ir.Value:
    """The sum of `value` over `dims` in one go, of the shape that `op` has."""
    keeps = len(shape(op.results[0])) == len(shape(op.operands[0]))
    return create(_SUM, [value, integer_list(dims), constant(keeps), dtype], type_)


def _added(value: ir.Value, dims: Sequence[int], results: int = 0) -> ir.Value:
    """The sum over `dims`, of the type of `value`; added up in float64 where it gives one number of many."""
    sizes = shape(value)
    left = with_shape(value.type, [size for dim, size in enumerate(sizes) if dim not in dims])
    count = prod(sizes[dim] for dim in dims)
    dtype = require_tensor_info(value.type).dtype
    is_wide = results == 1 and count > IN_A_ROW and count % _LANES > 0 and dtype != "float64"
    operands = [value, integer_list(list(dims)), constant(False)]
    if is_wide:
        wide = with_dtype(left, "float64")
        return cast(create(_SUM, [*operands, dtype_number("float64")], wide), dtype)
    return create(_SUM, [*operands, constant_none()], left)


def _with_shape(value: ir.Value, sizes: tuple[int, ...] | list[int]) -> ir.Value:
    if shape(value) == tuple(sizes):
        return value
    return create("torch.aten.reshape", [value, integer_list(sizes)], with_shape(value.type, sizes))
