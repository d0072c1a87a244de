"""Reductions on GPUs for which there is no good kernel: IREE's own gives each of few threads very much to do."""

from math import prod

from torch_mlir import ir

from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.passes.costs.gpu_shares import (
    COLUMN_TILE,
    MOST_BY_FEW,
    MOST_BY_ONE,
    ROW_TILE,
    column_form,
    few_form,
    row_form,
)
from dovetail.passes.placement.reasons import APART, COLUMNS, ONE_ROW_OF, ONE_THREAD, ROWS_OF
from dovetail.passes.rewriting.sums import SUMS, reduced_dims


def slow_reduction(op: ir.Operation) -> str:
    """Why ATen's kernel is the better one for `op` on a GPU; "" where ours is, or `op` reduces nothing."""
    source = tensor_info(op.operands[0].type) if kind(op) is Kind.REDUCTION else None
    if source is None or source.numel <= MOST_BY_ONE:
        return ""
    is_small, dims = source.numel <= MOST_BY_FEW, reduced_dims(op)
    if not dims:
        return ""
    is_alone = prod(source.shape[dim] for dim in dims) == source.numel
    result = tensor_info(op.results[0].type)
    is_count = result is not None and (source.dtype, result.dtype) == ("bool", "int64")
    if (source.itemsize > 4 or not source.is_floating_point) and not is_count:
        return "" if is_small and not is_alone else ONE_THREAD.of()
    if dims != list(range(dims[0], dims[-1] + 1)):
        return "" if is_small else APART.of()
    outer, count = prod(source.shape[: dims[0]]), prod(source.shape[dims[0] : dims[-1] + 1])
    inner = prod(source.shape[dims[-1] + 1 :])
    if inner == 1 and not row_form(outer, count):
        if outer == 1:
            return ONE_ROW_OF.of(count=count)
        return "" if is_small else ROWS_OF.of(count=count)
    is_added_up = op.name in SUMS and few_form(dims, count, inner)
    if inner > 1 and not is_small and not is_added_up and not column_form(count, inner):
        return COLUMNS.of(tile=COLUMN_TILE, rows=ROW_TILE)
    return ""
