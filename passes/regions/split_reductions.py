"""Pass `split-reductions`: long sums become sums of partial sums."""

from functools import cache
from math import prod

from torch_mlir import ir

from dovetail.dialects.attributes import SIZES
from dovetail.dialects.reading import Module, body, copy_attributes, is_used, made_by
from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.sizes.symbols import sizes_map, sizes_of
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.ops import Kind, row
from dovetail.dialects.torch_facts.types import (
    is_open_type,
    require_shaped_info,
    require_tensor_info,
    with_dtype,
    with_shape,
)
from dovetail.passes.base import Pass
from dovetail.passes.exactness.value_flow import deciding_ops
from dovetail.passes.regions.gpu_sums import gpu_sum_or_mean, mean_in_single, sum_of_few
from dovetail.passes.regions.summation_order import IN_A_ROW, innermost, keeps_several, lanes_of, most_of
from dovetail.passes.rewriting.constants import cast, constant, dtype_number, integer_list, is_none
from dovetail.passes.rewriting.rules import apply_rules, create, shape
from dovetail.passes.rewriting.slices import Slice
from dovetail.passes.rewriting.sums import MEANS, SUM, SUMS, quotient, reduced_dims, sum_over, with_sizes, zero_less

_NEG = "torch.aten.neg"
_LONG = 16
"""How many numbers make one of float64 that is stored: less would move as much memory as they."""


class SplitReductionsPass(Pass, name="split-reductions", runs_at="program"):
    """Adds up floating-point numbers in blocks, and then the blocks' sums, where a sum or a mean is of many.

    IREE adds one after the other, so the rounding error grows with their number; ATen's grows with its logarithm. A
    dimension is split by a divisor of its size. float32 is added up in float64 instead where no divisor gives good
    code, and in rows of neighbours: blocks would keep IREE from computing a softmax or a norm in one go. The last block
    of float64 is shorter if it must. What has open sizes is added up in float64.

    Numbers are negated after their sum: IREE makes a subtraction of the two, which no vectors compute. Nor do they add
    up neighbours of a permuted tensor, or products that IREE takes for one of matrices: these count as rows.

    On a GPU, many threads add up at once. There, blocks are made where too few of them had work, or a thread too much
    of it: of rows too long for a workgroup, and of columns. A mean is taken in float32 there, as eager takes it.

    Before:  `%1 = torch.aten.sum.dim_IntList %0, [0]` of `[4096]`
    After:   `%1 = reshape %0, [8, 512]; %2 = sum %1, [1]; %3 = sum %2, [0]`
    """

    def run(self, module: ir.Module) -> None:
        is_cpu = device_type(module) == "cpu"
        if not is_cpu:
            apply_rules(module, {"torch.aten._to_copy": mean_in_single}, takes_open=True)
        decided = cache(lambda: deciding_ops(module))

        def on_gpu(op: ir.Operation) -> ir.Value | None:
            return sum_of_few(op, decided) or gpu_sum_or_mean(op)

        rule = _sum_or_mean if is_cpu else on_gpu
        apply_rules(module, dict.fromkeys((*SUMS, *MEANS), rule), takes_open=is_cpu)
        if not is_cpu:
            _erase_unused(module)


def _erase_unused(module: ir.Module) -> None:
    """Erases in regions what nothing uses since sums compute their terms by ops of their own."""
    for region in Module(module).regions.values():
        for op in reversed(body(region)):
            if row(op).kind is Kind.POINTWISE and op.results and not is_used(*op.results):
                op.erase()


def _sum_or_mean(op: ir.Operation) -> ir.Value | None:
    """The sum or the mean `op` in a form that rounds less; None where it is exact enough."""
    if is_open_type(op.operands[0].type):
        return _open_sum(op)
    dims, value = _long(op), op.operands[0]
    if dims is None:
        dims = _columns_of_several(op)
        total = sum_over(sum_over(value, dims[-1:], "float64"), dims[:-1]) if dims else None
    else:
        total = _summed(value, dims)
    if total is None or dims is None:
        return None
    total = with_sizes(total, shape(op.results[0]))
    return quotient(total, prod(shape(op.operands[0])[dim] for dim in dims)) if op.name in MEANS else total


def _open_sum(op: ir.Operation) -> ir.Value | None:
    """A sum or a mean in float64 of float32 with open sizes: any of them may be large."""
    if require_shaped_info(op.operands[0].type).dtype != "float32" or not is_none(op.operands[-1]):
        return None
    wide, value = with_dtype(op.results[0].type, "float64"), op.operands[0]
    taken = _of_rows(op, value) if _has_long_rows(op, value) else value
    total = create(op.name, [taken, *list(op.operands)[1:-1], dtype_number("float64")], wide)
    copy_attributes(op, total.owner, SIZES)
    return cast(total, "float32")


def _has_long_rows(op: ir.Operation, value: ir.Value) -> bool:
    """Whether all of `value` is added up, of long rows: several threads share them, where IREE gives one all of it."""
    dims, expected = reduced_dims(op), expected_info(value)
    if dims is None or expected is None or sizes_of(value) is None:
        return False
    return 1 < len(dims) == len(expected.shape) and expected.shape[-1] >= IN_A_ROW


def _of_rows(op: ir.Operation, value: ir.Value) -> ir.Value:
    """The sum, or the mean, of each row of `value`, as a last dimension of one element."""
    *rows, _ = require_shaped_info(value.type).shape
    type_ = with_dtype(with_shape(value.type, [*rows, 1]), "float64")
    name = SUM if op.name in SUMS else MEANS[0]
    made = create(name, [value, integer_list([len(rows)]), constant(True), dtype_number("float64")], type_)
    *sizes, _ = sizes_of(value) or ()
    made.owner.attributes[SIZES] = ir.ArrayAttr.get([sizes_map([*sizes, ir.AffineExpr.get_constant(1)])])
    return made


def _columns_of_several(op: ir.Operation) -> list[int] | None:
    """The dimensions that `op` adds up in float64 where they are several, without the innermost; else None.

    Several threads share the rows of the first sum, which IREE else gives one all of: half the time on one thread, too.
    """
    source, result = require_tensor_info(op.operands[0].type), require_tensor_info(op.results[0].type)
    dims = reduced_dims(op) or []
    is_wide = (source.dtype, result.dtype) == ("float32", "float64") and source.numel > 0
    is_first_long = len(dims) > 1 and source.shape[dims[-1]] >= _LONG
    return dims if is_wide and is_first_long and innermost(source) not in dims else None


def _long(op: ir.Operation) -> list[int] | None:
    """The dimensions that `op` adds up, if they hold too many numbers, all of them in the result's type; else None."""
    source, result = require_tensor_info(op.operands[0].type), require_tensor_info(op.results[0].type)
    if not source.is_floating_point or source.dtype != result.dtype or not source.numel:
        return None
    dims = reduced_dims(op) or []
    count = prod(source.shape[dim] for dim in dims)
    is_negated = count > IN_A_ROW and made_by(op.operands[0], _NEG) is not None
    return dims if is_negated or count > most_of(op.operands[0], dims) else None


def _summed(value: ir.Value, dims: list[int]) -> ir.Value:
    """`value` without its dimensions `dims`, which are added up."""
    negation = made_by(value, _NEG)
    if negation is not None:
        return zero_less(_summed(negation.operands[0], dims))
    info = require_tensor_info(value.type)
    if prod(info.shape[dim] for dim in dims) <= most_of(value, dims):
        return sum_over(value, dims)
    if info.dtype == "float32" and keeps_several(info, dims) and innermost(info) in dims:
        return _wide(value, dims)
    return _in_blocks(value, dims)


def _wide(value: ir.Value, dims: list[int]) -> ir.Value:
    return cast(sum_over(value, dims, "float64"), "float32")


def _in_blocks(value: ir.Value, dims: list[int]) -> ir.Value:
    """Adds up the innermost of `dims` first, as many numbers as may be, and goes on with what that gives."""
    info = require_tensor_info(value.type)
    lanes, most = lanes_of(value, dims), most_of(value, dims)
    whole: list[int] = []
    numbers = 1
    while len(whole) < len(dims) and numbers * info.shape[dims[-1 - len(whole)]] <= most:
        whole.insert(0, dims[-1 - len(whole)])
        numbers *= info.shape[whole[0]]
    rest = dims[: len(dims) - len(whole)]
    if not rest:
        return sum_over(value, whole)
    longest = most // 2 // numbers
    if longest < 2:
        return _in_blocks(sum_over(value, whole), rest)
    block = _divisor(info.shape[rest[-1]], longest, 1 if whole else lanes)
    if info.dtype == "float32" and (block is None or (lanes == 1 and innermost(info) in dims)):
        return _wide(value, dims)
    return _split(value, rest, whole, block or longest)


def _split(value: ir.Value, rest: list[int], whole: list[int], block: int) -> ir.Value:
    """Adds up `whole` and blocks of the innermost dimension of `rest`, then `rest`."""
    sizes, dim = shape(value), rest[-1]
    count, left = divmod(sizes[dim], block)
    blocks = Slice(value, dim, 0, count * block, 1).build()
    blocks = with_sizes(blocks, [*sizes[:dim], count, block, *sizes[dim + 1 :]])
    total = _in_blocks(sum_over(blocks, [dim + 1, *(axis + 1 for axis in whole)]), rest)
    if not left:
        return total
    last = _in_blocks(Slice(value, dim, count * block, left, 1).build(), [*rest, *whole])
    return create("torch.aten.add.Tensor", [total, last, constant(1)], total.type)


def _divisor(size: int, longest: int, step: int) -> int | None:
    """The largest multiple of `step` up to `longest` that divides `size`; None where it would be much smaller."""
    start = longest - longest % step
    return next((block for block in range(start, max(longest // 8, 1), -step) if size % block == 0), None)
