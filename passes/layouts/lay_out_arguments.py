"""Pass `lay-out-arguments`: regions are given an argument as it lies, where they transpose faster than a copy does."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.attributes import SHOWS_ROWS, TANGENT_OF
from dovetail.dialects.building.cloning import erase_unused
from dovetail.dialects.dovetail import CopyOp, ReadOp
from dovetail.dialects.reading import COMPUTING, Module, body, fact_of, of_class, producer, users
from dovetail.dialects.sizes.known_strides import order_in_memory
from dovetail.dialects.sizes.symbols import KnownSize, known_sizes
from dovetail.dialects.statements.target import device_type
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.transposition import is_transposition, reordered
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.permutations import inverse, keeps_order, permuted


class LayOutArgumentsPass(Pass, name="lay-out-arguments", runs_at="split"):
    """Has regions transpose large arguments that lie dense in another order than row by row.

    A region takes rows, so that the host would copy such an argument, one element at a time. It permutes it to the
    order of memory instead, at no cost, and the region permutes it back by blocks. What permutes it so anyway stays
    on the host.

    Before:  `%0 = read %x; %1 = exp %0`, `%x` being `strided<[1, 1024]>`
    After:   `%0 = read %x; %2 = permute %0, [1, 0] {dovetail.shows_rows}; %3 = permute %2, [1, 0]; %1 = exp %3`
    """

    def run(self, module: ir.Module) -> bool:
        device = device_type(module)
        found = Module(module)
        reads = [op for each in found.of(*COMPUTING).values() for op in of_class(body(each), ReadOp)]
        laid_out = [_lay_out(op, _lying_as(op.operands[0], found), device) for op in reads]
        return any(laid_out)


def _lying_as(ref: ir.Value, module: Module) -> ir.Value:
    """What is known to lie as `ref`: the result that it is a tangent of, which tells more; else `ref` itself."""
    tied = None if producer(ref) is not None else fact_of(ref, TANGENT_OF)
    if tied is None:
        return ref
    result = module.ops(module.forward)[-1].operands[ir.IntegerAttr(tied).value]
    return result if result.type == ref.type else ref


def _lay_out(read: ir.Operation, lying: ir.Value, device: str) -> bool:
    value = read.results[0]
    order, sizes = order_in_memory(lying), known_sizes(value)
    if order is None or keeps_order(order) or sizes is None:
        return False
    shown = [op for op in users(value) if reordered(op) == order]
    for op in shown:
        op.attributes[SHOWS_ROWS] = ir.UnitAttr.get()
    return _turn(value, sizes, order, device) or bool(shown)


def _turn(value: ir.Value, sizes: Sequence[KnownSize], order: Sizes, device: str) -> bool:
    """Has what regions do take `value` from its rows, transposed, if they have code for that."""
    uses = [use for use in value.uses if _computes(use.owner.operation)]
    if not uses:
        return False
    with value.owner.location, ir.InsertionPoint.after(value.owner):
        rows = permuted(value, sizes, order)
        turned = permuted(rows, [sizes[dim] for dim in order], inverse(order))
    if not is_transposition(turned.owner.operation, device):
        erase_unused(turned, (Kind.VIEW,))
        return False
    rows.owner.attributes[SHOWS_ROWS] = ir.UnitAttr.get()
    for use in uses:
        use.owner.operands[use.operand_number] = turned
    return True


def _computes(op: ir.Operation) -> bool:
    """Whether `op` is one that regions do."""
    return op.name == CopyOp.OPERATION_NAME or kind(op) in (Kind.POINTWISE, Kind.REDUCTION)
