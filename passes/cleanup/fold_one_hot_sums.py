"""Pass `fold-one-hot-sums`: the sum of rows that hold one number each is that number."""

from collections.abc import Iterator
from math import prod

from numpy import broadcast_shapes
from torch_mlir import ir

from dovetail.dialects.reading import made_by, producer
from dovetail.dialects.torch_facts.numbers import uniform
from dovetail.dialects.torch_facts.types import require_tensor_info, tensor_info, with_dtype, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.cleanup.fold_indices import counted
from dovetail.passes.rewriting.constants import constant
from dovetail.passes.rewriting.pointwise import converts, of_others
from dovetail.passes.rewriting.rules import apply_rules, create, shape
from dovetail.passes.rewriting.sums import SUM, reduced_dims, with_sizes

_AND = "torch.aten.bitwise_and.Tensor"
_EQUAL = "torch.aten.eq.Tensor"
_WHERE = "torch.aten.where.self"


class FoldOneHotSumsPass(Pass, name="fold-one-hot-sums", runs_at="joint"):
    """Takes the sum along a dimension of what is 0 but at one position of it for the number there.

    The gradient of a classifier's loss is such: a number at each row's class. The gradient of the logarithm of softmax
    adds up every row of it, and would have to compute all of a row before any of its result. Other conditions may hold
    of the position, too, and what is chosen may be converted; a row without such a one adds up to 0, and -0.0 to 0.0.

    Before:  `%1 = eq (arange 8), %class; %2 = where %1, %x, 0.0; %3 = sum %2, [1]` of `[4, 8]`, `%class` of `[4, 1]`
    After:   `%3 = (where (%class >= 0 and %class < 8), %x, 0.0) + 0.0`
    """

    def run(self, module: ir.Module) -> bool:
        return apply_rules(module, {SUM: _sum})


def _sum(op: ir.Operation) -> ir.Value | None:
    dims, result, conversions = reduced_dims(op), tensor_info(op.results[0].type), list(_conversions(op.operands[0]))
    choice = made_by(conversions[-1].operands[0] if conversions else op.operands[0], _WHERE)
    if choice is None or dims is None or len(dims) != 1 or result is None or not result.is_floating_point:
        return None
    condition, number, other = choice.operands
    if op.operands[0].type != with_dtype(choice.results[0].type, result.dtype) or uniform(other) != 0:
        return None
    size, position = shape(op.operands[0])[dims[0]], dims[0] - len(shape(op.operands[0]))
    tests = list(_conjuncts(condition))
    found = [index for test in tests if (index := _index(test, position, size)) is not None]
    rest = [test for test in tests if _is_shared(test, position)]
    if len(found) != 1 or len(rest) != len(tests) - 1 or not _is_shared(number, position):
        return None
    sizes = broadcast_shapes(*map(shape, (*found, *rest, number)))
    if prod(sizes) != result.numel:
        return None
    truth = with_dtype(found[0].type, "bool")
    chosen = create("torch.aten.ge.Scalar", [found[0], constant(0)], truth)
    for test in (create("torch.aten.lt.Scalar", [found[0], constant(size)], truth), *rest):
        chosen = create(_AND, [chosen, test], with_shape(truth, broadcast_shapes(shape(chosen), shape(test))))
    total = create(_WHERE, [chosen, number, other], with_shape(choice.results[0].type, sizes))
    for each in reversed(conversions):
        total = of_others(each, [total, *list(each.operands)[1:]], with_shape(each.results[0].type, sizes), sizes)
    total = create("torch.aten.add.Scalar", [total, constant(0.0), constant(1)], total.type)
    return with_sizes(total, result.shape)


def _conversions(value: ir.Value) -> Iterator[ir.Operation]:
    """What converts numbers to those of `value`, the last one first."""
    while (op := producer(value)) is not None and converts(op):
        yield op
        value = op.operands[0]


def _conjuncts(condition: ir.Value) -> Iterator[ir.Value]:
    """The truths of which `condition` is the conjunction."""
    both = made_by(condition, _AND)
    if both is None:
        yield condition
    else:
        yield from (part for operand in both.operands for part in _conjuncts(operand))


def _index(test: ir.Value, position: int, size: int) -> ir.Value | None:
    """What `test` says that the position along dimension `position` equals, the same along it; None if it says none."""
    equal = made_by(test, _EQUAL)
    for count, index in () if equal is None else (list(equal.operands), list(equal.operands)[::-1]):
        is_whole = require_tensor_info(index.type).dtype in ("int32", "int64")
        if is_whole and _is_shared(index, position) and counted(count) == (-position, size):
            return index
    return None


def _is_shared(value: ir.Value, position: int) -> bool:
    """Whether `value` is the same all along dimension `position`, which counts from the last, as -1."""
    sizes = shape(value)
    return len(sizes) < -position or sizes[position] == 1
