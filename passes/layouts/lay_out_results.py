"""Pass `lay-out-results`: what is handed out in another order than row by row is computed in that order."""

from torch_mlir import ir

from dovetail.dialects.building.cloning import erase_unused
from dovetail.dialects.dovetail import OwnOp
from dovetail.dialects.reading import Module, body, of_class
from dovetail.dialects.sizes.known_strides import order_in_memory
from dovetail.dialects.sizes.symbols import known_sizes
from dovetail.dialects.torch_facts.ops import Kind
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.transposition import SMALLEST
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.permutations import inverse, keeps_order, permuted
from dovetail.passes.rewriting.turned import is_turnable, permutations, turned


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
    if not is_turnable(value):
        return
    before, after = permutations(value, order)
    # The copy that lays the result out is one more.
    if after >= before + 1:
        return
    with op.location, ir.InsertionPoint(op):
        result = turned(value, order)
        op.operands[0] = permuted(result, known_sizes(result) or (), inverse(order))
    erase_unused(value, (Kind.POINTWISE, Kind.VIEW))
