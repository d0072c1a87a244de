"""Pass `lay-out-operands`: what a library reads in another order of rows is written so by the region that makes it."""

from torch_mlir import ir

from dovetail.dialects.building.cloning import constant_none
from dovetail.dialects.memory.roots import memory_path, memory_root
from dovetail.dialects.reading import COMPUTING, Module, body, producer, users
from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.sizes.symbols import known_sizes
from dovetail.dialects.statements.recompute import is_pinned
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.sizes import Sizes, row_major
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.pointwise import with_known_sizes
from dovetail.passes.rewriting.rules import create

_COMPUTED = (Kind.POINTWISE, Kind.REDUCTION)
"""What regions compute in any order of rows; joins and fills `place-ops` leaves to ATen in part."""
_FEWEST = 8
"""Elements of a row that stay together: a loop stores as many at once."""


class LayOutOperandsPass(Pass, name="lay-out-operands", runs_at="split"):
    """Has regions lay out what a library would be given as a copy.

    The host shows memory in other ways at no cost, but a reshape that joins what does not lie evenly is a copy.
    Where rows stay whole, the region that computes the tensor may as well write it so. Open sizes are taken for those
    that are expected: for others a copy may be made where none was needed.

    Before:  `%1 = mul %x, %y; %2 = permute %1, [0, 2, 1, 3]; %3 = view %2, [512, 32]; %4 = mm %3, %w`
    After:   `%1 = mul %x, %y; %2 = permute %1, [0, 2, 1, 3]; %5 = clone %2; %3 = view %5, [512, 32]; %4 = mm %3, %w`
    """

    def run(self, module: ir.Module) -> bool:
        ops = (op for function_op in Module(module).of(*COMPUTING).values() for op in body(function_op))
        copying = [op for op in ops if _copies_rows(op) and _is_a_librarys(op)]
        laid_out = [_lay_out(op) for op in copying]
        return any(laid_out)


def _lay_out(op: ir.Operation) -> bool:
    value, sizes = op.operands[0], known_sizes(op.operands[0])
    if sizes is None:
        return False
    with op.location, ir.InsertionPoint(op):
        op.operands[0] = with_known_sizes(create("torch.aten.clone", [value, constant_none()], value.type), sizes)
    return True


def _copies_rows(op: ir.Operation) -> bool:
    """Whether `op` shows a tensor of a region's in a way that takes a copy, row by row."""
    if kind(op) is not Kind.VIEW or not op.operands:
        return False
    given, made = expected_info(op.operands[0]), expected_info(op.results[0])
    rule, strides = row(op).strides, _strides(op.operands[0])
    if rule is None or given is None or made is None or strides is None:
        return False
    if rule(op, given.shape, strides, made.shape) is not None:
        return False
    return strides[-1:] == (1,) and given.shape[-1] >= _FEWEST


def _strides(value: ir.Value) -> Sizes | None:
    """How the host shows `value`, a view of what a region computes; None of anything else."""
    computing, root = producer(memory_root(value)), expected_info(memory_root(value))
    if computing is None or kind(computing) not in _COMPUTED or is_pinned(computing) or root is None:
        return None
    strides: Sizes | None = row_major(root.shape)
    for op in reversed(list(memory_path(value))):
        rule, given, made = row(op).strides, expected_info(op.operands[0]), expected_info(op.results[0])
        if rule is None or given is None or made is None or strides is None:
            return None
        strides = rule(op, given.shape, strides, made.shape)
    return strides


def _is_a_librarys(op: ir.Operation) -> bool:
    """Whether a library's op uses what `op` shows, as it is or through views, and no region does."""
    found = users(*op.results)
    return bool(found) and all(
        kind(user) is Kind.LIBRARY or (kind(user) is Kind.VIEW and _is_a_librarys(user)) for user in found
    )
