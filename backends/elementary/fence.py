"""Keeps IREE from fusing a transposition, an extremum or some sums of open sizes, with other ops."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.elementary.loop import from_builtin, sizes_of, to_builtin
from dovetail.backends.elementary.row_sums import goes_one_by_one, keeps_rows_near, listed_dims
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.row import Rounding
from dovetail.dialects.torch_facts.types import require_shaped_info


def fence(value: ir.Value) -> None:
    """Has the op of `value` run by itself: a transposition by blocks, which others would read by single elements."""
    op, uses = value.owner, list(value.uses)
    with op.location, ir.InsertionPoint.after(op):
        made = fenced(value)
    for use in uses:
        use.owner.operands[use.operand_number] = made


def fenced(value: ir.Value) -> ir.Value:
    """Builds `value` apart from what computes it, and from what takes it otherwise."""
    elements = to_builtin(value)
    open_sizes = [size for size in sizes_of(elements) if not isinstance(size, int)]
    barrier = ir.Operation.create("iree_tensor_ext.compute_barrier.end", [elements.type], [elements, *open_sizes])
    return from_builtin(barrier.result, value.type)


def fence_around(op: ir.Operation) -> None:
    """Has `op` run by itself, apart from the ops of its region that compute what it takes, and that take its result."""
    ends = (func.ReturnOp.OPERATION_NAME, "torch.overwrite.tensor.contents")
    if not isinstance(op.operands[0].owner, ir.Block):
        fence(op.operands[0])
    if any(use.owner.name not in ends for use in op.results[0].uses):
        fence(op.results[0])


def is_open_extremum(op: ir.Operation, by_blocks: bool) -> bool:
    """Whether `op` finds the largest or smallest numbers of a tensor of open sizes, and an op of the region takes them.

    IREE computes both in one loop, each vector of which finds them anew: a softmax of rows of 1,000 took three times as
    long. It does not where rows are near (`keeps_rows_near`), or go one by one. Sums it computes once.
    """
    if kind(op) is not Kind.REDUCTION or row(op).rounding is not Rounding.NEVER:
        return False
    info = require_shaped_info(op.operands[0].type)
    is_single = by_blocks and goes_one_by_one(info) and listed_dims(op) == [len(info.shape) - 1]
    if info.is_static or keeps_rows_near(info) or is_single:
        return False
    return any(use.owner.name != func.ReturnOp.OPERATION_NAME for use in op.results[0].uses)


def is_open_across(op: ir.Operation) -> bool:
    """Whether `op` takes together several dimensions of a tensor of several open sizes.

    IREE 3.13 joins such dimensions, and gives what the same loop computes the sizes of others: memory too small.
    """
    if kind(op) is not Kind.REDUCTION:
        return False
    return require_shaped_info(op.operands[0].type).shape.count(None) > 1 and len(listed_dims(op)) > 1
