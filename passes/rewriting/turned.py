"""Values of pointwise ops in another order of their dimensions: computed of operands that are permuted instead."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.attributes import SHOWS_ROWS
from dovetail.dialects.reading import producer, users
from dovetail.dialects.sizes.symbols import KnownSize, in_types, known_sizes
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.transposition import reordered
from dovetail.dialects.torch_facts.types import require_shaped_info, with_shape
from dovetail.passes.rewriting.permutations import composed, keeps_order, permuted
from dovetail.passes.rewriting.pointwise import is_whole, of_others, op_of_elements


def permutations(value: ir.Value, order: Sizes) -> tuple[int, int]:
    """How many tensors are permuted for `value`: as it is, and in `order`."""
    if not is_turnable(value):
        found = _order_of(value)
        return int(found is not None), int(found is None or not keeps_order(composed(found, order)))
    counts = [permutations(each, order) for each in _whole_operands(value)]
    return sum(each for each, _ in counts), sum(each for _, each in counts)


def turned(value: ir.Value, order: Sizes) -> ir.Value:
    """Builds `value`, its dimensions in `order`."""
    sizes = _sizes(value)
    if is_turnable(value):
        in_order = [sizes[dim] for dim in order]
        whole = _whole_operands(value)
        operands = [turned(operand, order) if operand in whole else operand for operand in value.owner.operands]
        return of_others(value.owner.operation, operands, with_shape(value.type, in_types(in_order)), in_order)
    found = _order_of(value)
    if found is None:
        return permuted(value, sizes, order)
    combined, source = composed(found, order), value.owner.operands[0]
    return source if keeps_order(combined) else permuted(source, _sizes(source), combined)


def _order_of(value: ir.Value) -> Sizes | None:
    """How the view that gives `value` orders its operand; None of other ops, and of what the host must show."""
    op = producer(value)
    return None if op is None or SHOWS_ROWS in op.attributes else reordered(op)


def is_turnable(value: ir.Value) -> bool:
    """Whether one op alone uses `value`, and another computes it of tensors of its sizes and of single numbers."""
    op = op_of_elements(value, _sizes(value), lambda operand: not require_shaped_info(operand.type).shape)
    return op is not None and len(users(value)) == 1


def _whole_operands(value: ir.Value) -> Sequence[ir.Value]:
    return [operand for operand in value.owner.operands if is_whole(operand, _sizes(value))]


def _sizes(value: ir.Value) -> tuple[KnownSize, ...]:
    """The sizes of what an operand of known ones is computed of, which are known, too."""
    return known_sizes(value) or ()
