"""How GPUs add up: by many threads at once, each a few numbers; a sum of very many is one of partial sums.

Where no kernel has many threads for a sum, one thread adds up the numbers of each result, one after the other. It does
so in float64, and where there are many numbers, ATen does it (`passes/placement/slow_reductions.py`).
"""

from collections.abc import Callable, Container, Sequence
from math import prod

from torch_mlir import ir

from dovetail.dialects.attributes import SIZES
from dovetail.dialects.building.cloning import constant_none
from dovetail.dialects.reading import copy_attributes, made_by
from dovetail.dialects.torch_facts.element_types import HALF_PRECISION
from dovetail.dialects.torch_facts.types import require_shaped_info, require_tensor_info, with_dtype
from dovetail.passes.costs.gpu_shares import (
    LANES,
    MOST_BY_FEW,
    block_of_column,
    block_of_row,
    column_form,
    cut_of,
    few_form,
    row_form,
)
from dovetail.passes.regions.reshaped_terms import in_sizes
from dovetail.passes.regions.summation_order import IN_A_ROW
from dovetail.passes.rewriting.constants import cast, constant, dtype_number, integer_list
from dovetail.passes.rewriting.rules import create, shape
from dovetail.passes.rewriting.slices import Slice
from dovetail.passes.rewriting.sums import SUM, SUMS, quotient, reduced_dims, sum_over, with_sizes, zero_less


def gpu_sum_or_mean(op: ir.Operation) -> ir.Value | None:
    """The sum or the mean `op` in a form of which GPU threads have an equal share each; None where it has that form.

    Truth values are counted in float32, which is exact up to 2^24: IREE compiles no such sum of theirs.
    """
    value, dims, type_ = op.operands[0], reduced_dims(op), op.results[0].type
    source, result = require_tensor_info(value.type), require_tensor_info(type_)
    is_count = (source.dtype, result.dtype) == ("bool", "int64") and 0 < source.numel <= 1 << 24
    if is_count and dims is not None:
        return cast(_summed(cast(value, "float32"), dims, with_dtype(type_, "float32")), "int64")
    total = _in_parts(value, dims, type_)
    return total if total is None or op.name in SUMS else quotient(total, source.numel // max(result.numel, 1))


def sum_of_few(op: ir.Operation, decided: Callable[[], Container[ir.Operation]]) -> ir.Value | None:
    """The sum `op` of few along a dimension of many in a loop over the results; None for any other op.

    Half precision is added up in float32; of zeros, the sum is 0. What may decide something, of those `decided`, is not
    taken apart: several slices of one value would be several ways to it.
    """
    value, dims, result = op.operands[0], reduced_dims(op), require_tensor_info(op.results[0].type)
    info = require_tensor_info(value.type)
    if op.name not in SUMS or not dims or info.dtype != result.dtype or not info.is_floating_point or not info.numel:
        return None
    count, inner = prod(info.shape[dim] for dim in dims), prod(info.shape[dims[-1] + 1 :])
    if info.numel <= MOST_BY_FEW or not few_form(dims, count, inner) or column_form(count, inner) or op in decided():
        return None
    parts = [Slice(value, dims[0], number, 1, 1).build() for number in range(count)]
    first, *others = [cast(each, "float32") for each in parts] if info.dtype in HALF_PRECISION else parts
    total = create("torch.aten.add.Scalar", [first, constant(0.0), constant(1)], first.type)
    for each in others:
        total = create("torch.aten.add.Tensor", [total, each, constant(1)], total.type)
    return with_sizes(cast(total, info.dtype) if info.dtype in HALF_PRECISION else total, result.shape)


def mean_in_single(op: ir.Operation) -> ir.Value | None:
    """float32 that is made of a mean in float64 of float32, by a mean in float32; None for any other conversion.

    Many threads add up a few numbers each, so that what is wide on a CPU costs accuracy nothing here, and much time.
    """
    divided = made_by(op.operands[0], "torch.aten.div.Scalar")
    total = None if divided is None else made_by(divided.operands[0], SUM)
    result = require_shaped_info(op.results[0].type)
    if divided is None or total is None or result.dtype != "float32":
        return None
    source, sum_ = require_shaped_info(total.operands[0].type), require_shaped_info(total.results[0].type)
    if source.dtype != "float32" or sum_.dtype != "float64":
        return None
    operands = [*total.operands[:3], constant_none()]
    narrow = create(SUM, operands, with_dtype(total.results[0].type, "float32"))
    copy_attributes(total, narrow.owner, SIZES)
    return create("torch.aten.div.Scalar", [narrow, divided.operands[1]], op.results[0].type)


def _summed(value: ir.Value, dims: Sequence[int], type_: ir.Type) -> ir.Value:
    """The sum of `value` over `dims`, in parts if that is a better form."""
    in_parts = _in_parts(value, dims, type_)
    return _at_once(value, dims, type_) if in_parts is None else in_parts


def _in_parts(value: ir.Value, dims: Sequence[int] | None, type_: ir.Type) -> ir.Value | None:
    """The sum of `value` over `dims` as one of partial sums or in float64; None where it needs neither."""
    source, result = require_tensor_info(value.type), require_tensor_info(type_)
    if not dims or not source.is_floating_point or source.dtype != result.dtype or not source.numel:
        return None
    negation = made_by(value, "torch.aten.neg")
    if negation is not None:
        # Of negated numbers IREE makes a subtraction, which it can't share out.
        return zero_less(_summed(negation.operands[0], dims, type_))
    sizes, count = source.shape, prod(source.shape[dim] for dim in dims)
    outer, inner = prod(sizes[: dims[0]]), prod(sizes[dims[-1] + 1 :])
    are_neighbours = list(dims) == list(range(dims[0], dims[-1] + 1))
    if not are_neighbours or not (row_form(outer, count) if inner == 1 else column_form(count, inner)):
        if source.dtype != "float32" or count <= IN_A_ROW:
            return None
        return cast(_at_once(value, dims, with_dtype(type_, "float64"), dtype_number("float64")), "float32")
    block = block_of_row(sizes, dims) if inner == 1 else block_of_column(outer, count, inner)
    if block is None:
        # Of columns of several dimensions IREE makes one kernel with what takes their sums for each element.
        is_plain = inner == 1 or len(dims) == 1
        return None if is_plain else with_sizes(sum_over(in_sizes(value, [outer, count, inner]), [1]), result.shape)
    cut = cut_of(sizes, dims, block) if inner == 1 else None
    if cut is None:
        blocks = in_sizes(value, [outer, count // block, block, inner])
        return with_sizes(_sum_of_parts(sum_over(blocks, [2]), [1], outer * inner), result.shape)
    index, rows = cut
    blocks = in_sizes(value, [*sizes[:index], sizes[index] // rows, rows, *sizes[index + 1 :]])
    parts = sum_over(blocks, range(index + 1, dims[-1] + 2))
    return with_sizes(_sum_of_parts(parts, range(dims[0], index + 1), outer), result.shape)


def _sum_of_parts(parts: ir.Value, dims: Sequence[int], results: int) -> ir.Value:
    """The sum of `parts` over `dims`, which gives `results` numbers; one of many is added up in float64."""
    count, dtype = prod(shape(parts)[dim] for dim in dims), require_tensor_info(parts.type).dtype
    is_wide = results == 1 and count > IN_A_ROW and count % LANES > 0 and dtype != "float64"
    return cast(sum_over(parts, dims, "float64"), dtype) if is_wide else sum_over(parts, dims)


def _at_once(value: ir.Value, dims: Sequence[int], type_: ir.Type, dtype: ir.Value | None = None) -> ir.Value:
    """The sum of `value` over `dims` as one op, which keeps dimensions as `type_` does."""
    keeps = len(require_tensor_info(type_).shape) == len(shape(value))
    return create(SUM, [value, integer_list(list(dims)), constant(keeps), dtype or constant_none()], type_)
