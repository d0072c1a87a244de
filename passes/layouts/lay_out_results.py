"""Pass `lay-out-results`: what is handed out in another order than row by row is computed in that order."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.building.cloning import erase_unused
from dovetail.dialects.dovetail import OwnOp
from dovetail.dialects.reading import Module, body, of_class, producer, users
from dovetail.dialects.sizes.known_strides import order_in_memory
from dovetail.dialects.sizes.symbols import KnownSize, in_types, known_sizes
from dovetail.dialects.torch_facts.ops import Kind
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.transposition import SMALLEST, reordered
from dovetail.dialects.torch_facts.types import require_shaped_info, tensor_info, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.permutations import composed, inverse, keeps_order, permuted
from dovetail.passes.rewriting.pointwise import is_whole, of_others, op_of_elements


class LayOutResultsPass(Pass, name="lay-out-results", runs_at="split"):
    """Computes large pointwise results in the order of their strides, where that permutes fewer tensors.

    Regions lay out their results row by row. What eager laid out otherwise, mostly as an operand that is permuted,
    would be copied; so its operands are permuted instead, which takes permutations away where there were some.

    Before:  `%1 = permute %x, [1, 0]; %2 = add %1, %y; own %2 strided<[1, 1024]>`
    After:   `%1 = permute %y, [1, 0]; %2 = add %x, %1; %3 = permute %2, [1, 0]; own %3 strided<[1, 1024]>`
    """

    def run(self, module: ir.Module) -> bool:
        owned = of_class(body(Module(module).forward), OwnOp)
        orders = {op: order for op in owned if (order := _order(op)) is not None}
        for op, order in orders.items():
            _lay_out(op, order)
        return bool(orders)


def _order(op: ir.Operation) -> Sizes | None:
    """Of a tensor that may be large, its dimensions from the outermost one in memory on; None if that is rows."""
    info, order = tensor_info(op.operands[0].type), order_in_memory(op.results[0])
    is_small = info is not None and info.numel < SMALLEST
    return None if is_small or order is None or keeps_order(order) else order


def _lay_out(op: ir.Operation, order: Sizes) -> None:
    value = op.operands[0]
    if not _is_pointwise(value):
        return
    before, after = _permutations(value, order)
    # The copy that lays the result out is one more.
    if after >= before + 1:
        return
    with op.location, ir.InsertionPoint(op):
        turned = _turned(value, order)
        op.operands[0] = permuted(turned, _sizes(turned), inverse(order))
    erase_unused(value, (Kind.POINTWISE, Kind.VIEW))


def _permutations(value: ir.Value, order: Sizes) -> tuple[int, int]:
    """How many tensors are permuted for `value`: as it is, and in `order`."""
    if not _is_pointwise(value):
        found = _permuted(value)
        return int(found is not None), int(found is None or not keeps_order(composed(found, order)))
    counts = [_permutations(each, order) for each in _whole_operands(value)]
    return sum(each for each, _ in counts), sum(each for _, each in counts)


def _turned(value: ir.Value, order: Sizes) -> ir.Value:
    """Builds `value`, its dimensions in `order`."""
    sizes = _sizes(value)
    if _is_pointwise(value):
        turned = [sizes[dim] for dim in order]
        whole = _whole_operands(value)
        operands = [_turned(operand, order) if operand in whole else operand for operand in value.owner.operands]
        return of_others(value.owner.operation, operands, with_shape(value.type, in_types(turned)), turned)
    found = _permuted(value)
    if found is None:
        return permuted(value, sizes, order)
    combined, source = composed(found, order), value.owner.operands[0]
    return source if keeps_order(combined) else permuted(source, _sizes(source), combined)


def _permuted(value: ir.Value) -> Sizes | None:
    op = producer(value)
    return None if op is None else reordered(op)


def _is_pointwise(value: ir.Value) -> bool:
    """Whether one op alone uses `value`, and another computes it of tensors of its sizes and of single numbers."""
    op = op_of_elements(value, _sizes(value), lambda operand: not require_shaped_info(operand.type).shape)
    return op is not None and len(users(value)) == 1


def _whole_operands(value: ir.Value) -> Sequence[ir.Value]:
    return [operand for operand in value.owner.operands if is_whole(operand, _sizes(value))]


def _sizes(value: ir.Value) -> tuple[KnownSize, ...]:
    """The sizes of what an operand of known ones is computed of, which are known, too."""
    return known_sizes(value) or ()
