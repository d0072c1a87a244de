"""Pass `split-softmax`: on a GPU, the sum of a long row's exponentials is found block by block."""

from torch_mlir import ir

from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Module, body, made_by, users
from dovetail.dialects.statements.recompute import is_pinned
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.types import require_tensor_info, tensor_info, with_dtype, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.costs.gpu_shares import is_held
from dovetail.passes.regions.reshaped_terms import in_sizes
from dovetail.passes.rewriting.constants import boolean, constant, integer, integer_list
from dovetail.passes.rewriting.rules import create, shape
from dovetail.passes.rewriting.sums import SUM, reduced_dims, sum_over, with_sizes

_AMAX = "torch.aten.amax"
_EXP = "torch.aten.exp"
_SUB = "torch.aten.sub.Tensor"

_MOST = 16_384
"""Numbers of a row that a workgroup has in its registers while others have theirs."""
_SHORT = 4_096
"""Numbers of a row that caches hold until a workgroup reads it again."""
_LANES = 128
"""Numbers that a subgroup reads at once."""
_LONGEST = 1_024
"""Numbers of a block, which one subgroup has in its registers."""


class SplitSoftmaxPass(Pass, name="split-softmax", runs_at="program"):
    """Finds each block's largest number and the sum of its exponentials, then the row's, where rows are long.

    The sum takes the row's largest number, so that a kernel reads a row twice if its registers can't hold it: the
    logarithm of a softmax over a vocabulary. A block's numbers are less its own largest one; its sum then is that of
    the row's times the exponential of the difference. A block of -inf alone is less 0: its sum is 0, as in the row.

    Before:  `%m = amax %x, [1]; %s = sum (exp (%x - %m)), [1]` of `[4096, 32000]`
    After:   `%b = reshape %x, [4096, 50, 640]; %n = amax %b, [2]; %t = sum (exp (%b - %n)), [2]; %m = amax %n, [1]`
             `%s = sum (%t * exp (%n - %m)), [1]`
    """

    def run(self, module: ir.Module) -> bool:
        if device_type(module) == "cpu":
            return False
        is_changed = False
        for region in Module(module).regions.values():
            for op in body(region):
                largest = _largest_number(op)
                length = None if largest is None else _block(op, largest)
                if largest is None or length is None:
                    continue
                with ir.InsertionPoint(largest), largest.location:
                    _split(op, largest, length)
                is_changed = True
        return is_changed


def _largest_number(op: ir.Operation) -> ir.Operation | None:
    """The largest number of each row, if `op` sums up the exponentials of rows less it."""
    exponentials = made_by(op.operands[0], _EXP) if op.name == SUM else None
    less = made_by(exponentials.operands[0], _SUB) if exponentials else None
    largest = made_by(less.operands[1], _AMAX) if less else None
    if exponentials is None or less is None or largest is None:
        return None
    value, source = less.operands[0], tensor_info(less.operands[0].type)
    if source is None or not source.is_static or source.dtype != "float32" or integer(less.operands[2]) != 1:
        return None
    last = [len(source.shape) - 1]
    is_alike = value == largest.operands[0] and reduced_dims(op) == reduced_dims(largest) == last
    has_type = require_tensor_info(op.results[0].type).dtype == "float32" and boolean(largest.operands[2])
    is_free = not any(map(is_pinned, (op, exponentials, less, largest)))
    return largest if is_alike and has_type and is_free else None


def _block(op: ir.Operation, largest: ir.Operation) -> int | None:
    """How long blocks of the rows are, whose exponentials `op` adds up; None where rows are better read whole.

    A kernel that goes on over whole rows would find each row's numbers again for each of its elements.
    """
    value, less = largest.operands[0], op.operands[0].owner.operands[0].owner
    row = shape(value)[-1]
    if row <= (_MOST if is_held(row) else _SHORT) or _goes_on_over_rows(op, largest, less):
        return None
    return next((size for size in range(_LONGEST, 0, -_LANES) if row % size == 0), None)


def _goes_on_over_rows(op: ir.Operation, largest: ir.Operation, less: ir.Operation) -> bool:
    """Whether anything of whole rows is computed of a row's `largest` number or its sum, `op`, but for its terms."""
    exponentials, numel = op.operands[0].owner, require_tensor_info(less.results[0].type).numel
    if users(*exponentials.results) != [op] or users(*less.results) != [exponentials]:
        return True
    found = reachable([largest, op], lambda each: (user for user in users(*each.results) if user != less))
    infos = (tensor_info(result.type) for each in found for result in each.results)
    return any(info is not None and info.numel >= numel for info in infos)


def _split(op: ir.Operation, largest: ir.Operation, length: int) -> None:
    """Replaces the sum `op` and the row's `largest` number; what is left of both is dead, and erased."""
    value, type_ = largest.operands[0], largest.operands[0].type
    *outer, row = shape(value)
    sizes = [*outer, row // length]
    blocks = in_sizes(value, [*sizes, length])
    of_block, whole = with_shape(type_, [*sizes, 1]), with_shape(type_, [*sizes, length])
    most = create(_AMAX, [blocks, integer_list([len(sizes)]), constant(True)], of_block)
    is_none = create("torch.aten.eq.Scalar", [most, constant(float("-inf"))], with_dtype(of_block, "bool"))
    base = create("torch.aten.where.ScalarSelf", [is_none, constant(0.0), most], of_block)
    exponentials = create(_EXP, [create(_SUB, [blocks, base, constant(1)], whole)], whole)
    sums, mosts = sum_over(exponentials, [len(sizes)]), with_sizes(most, sizes)
    parts = with_shape(type_, sizes)
    most_of_row = create(_AMAX, [mosts, integer_list([len(outer)]), constant(True)], with_shape(type_, [*outer, 1]))
    scale = create(_EXP, [create(_SUB, [mosts, most_of_row, constant(1)], parts)], parts)
    total = sum_over(create("torch.aten.mul.Tensor", [sums, scale], parts), [len(outer)])
    op.results[0].replace_all_uses_with(with_sizes(total, shape(op.results[0])))
    largest.results[0].replace_all_uses_with(most_of_row)
    terms = op.operands[0].owner
    for dead in (op, terms, terms.operands[0].owner, largest):
        dead.erase()
