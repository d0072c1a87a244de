"""Pass `lay-out-results`: what is handed out in another order than row by row is computed in that order."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir

from dovetail.dialects.dovetail import OwnOp
from dovetail.dialects.reading import Module, body, of_class, producer, users
from dovetail.dialects.torch_facts.ops import Kind
from dovetail.dialects.torch_facts.sizes import Sizes, row_major
from dovetail.dialects.torch_facts.transposition import SMALLEST, reordered
from dovetail.dialects.torch_facts.types import tensor_info, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.constants import integer_list
from dovetail.passes.rewriting.erase_unused import erase_unused
from dovetail.passes.rewriting.pointwise import is_whole, of_others, op_of_elements
from dovetail.passes.rewriting.rules import create, shape

_PERMUTE = "torch.aten.permute"


@dataclass(frozen=True)
class LayOutResultsPass(Pass, name="lay-out-results", runs_at="split"):
    """Computes large pointwise results in the order of their strides, where that permutes fewer tensors.

    Regions lay out their results row by row. What eager laid out otherwise, mostly as an operand that is permuted,
    would be copied; so its operands are permuted instead, which takes permutations away where there were some.

    Before:  `%1 = permute %x, [1, 0]; %2 = add %1, %y; own %2 strided<[1, 1024]>`
    After:   `%1 = permute %y, [1, 0]; %2 = add %x, %1; %3 = permute %2, [1, 0]; own %3 strided<[1, 1024]>`
    """

    def run(self, module: ir.Module) -> None:
        for op in of_class(body(Module(module).forward), OwnOp):
            order = _order_in_memory(op)
            if order is not None:
                _lay_out(op, order)


def _order_in_memory(op: ir.Operation) -> Sizes | None:
    """Of a large tensor, its dimensions from the outermost one in memory to the innermost; None if that is rows."""
    info, strides = tensor_info(op.operands[0].type), op.results[0].type.strides
    if info is None or info.numel < SMALLEST:
        return None
    order = tuple(sorted(range(len(strides)), key=lambda dim: -strides[dim]))
    sizes = tuple(info.shape[dim] for dim in order)
    is_dense = tuple(strides[dim] for dim in order) == row_major(sizes)
    return order if is_dense and order != tuple(range(len(order))) else None


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
        inverse = [order.index(dim) for dim in range(len(order))]
        op.operands[0] = create(_PERMUTE, [turned, integer_list(inverse)], value.type)
    erase_unused(value, (Kind.POINTWISE, Kind.VIEW))


def _permutations(value: ir.Value, order: Sizes) -> tuple[int, int]:
    """How many tensors are permuted for `value`: as it is, and in `order`."""
    if not _is_pointwise(value):
        found = _permuted(value)
        return int(found is not None), int(found is None or _combined(found, order) is not None)
    counts = [_permutations(each, order) for each in _whole_operands(value)]
    return sum(each for each, _ in counts), sum(each for _, each in counts)


def _turned(value: ir.Value, order: Sizes) -> ir.Value:
    """Builds `value`, its dimensions in `order`."""
    type_ = with_shape(value.type, [shape(value)[dim] for dim in order])
    if _is_pointwise(value):
        op = value.owner.operation
        whole = _whole_operands(value)
        operands = [_turned(each, order) if each in whole else each for each in op.operands]
        return of_others(op, operands, type_)
    found = _permuted(value)
    if found is None:
        return create(_PERMUTE, [value, integer_list(order)], type_)
    combined = _combined(found, order)
    source = value.owner.operands[0]
    return source if combined is None else create(_PERMUTE, [source, integer_list(combined)], type_)


def _combined(first: Sizes, then: Sizes) -> Sizes | None:
    """One permutation for two; None where they undo each other."""
    order = tuple(first[dim] for dim in then)
    return None if order == tuple(range(len(order))) else order


def _permuted(value: ir.Value) -> Sizes | None:
    op = producer(value)
    return None if op is None else reordered(op)


def _is_pointwise(value: ir.Value) -> bool:
    """Whether one op alone uses `value`, and another computes it of tensors of its sizes and of single numbers."""
    op = op_of_elements(value, shape(value), lambda operand: not shape(operand))
    return op is not None and len(users(value)) == 1


def _whole_operands(value: ir.Value) -> Sequence[ir.Value]:
    return [each for each in value.owner.operands if is_whole(each, shape(value))]
