"""Strides of views, in elements, as PyTorch computes them; with them, whether a reshape is a view or a copy.

One rule for each way of viewing; an op's row (`dialects.torch_facts.row`) names its own. Each takes the op, the sizes
and strides of its operand and the sizes of its result. It gives the strides of the result; None where they are not
known, which for a reshape means that it copies. test/dialects/torch_facts/test_strides.py holds them against PyTorch.
Strides of dimensions of size 1 mean nothing and may differ.
"""

from collections.abc import Callable, Sequence

from torch_mlir import ir

from dovetail.dialects.torch_facts.sizes import Sizes

Strides = tuple[int, ...]

StridesRule = Callable[[ir.Operation, Sizes, Sizes, Sizes], Sizes | None]


def reshaped(shape: Sizes, strides: Sizes, new: Sizes) -> Sizes | None:
    """The strides that show memory of `shape` and `strides` as the shape `new`, None where only a copy can.

    Dimensions fall into chunks that lie evenly in memory; a new dimension must not reach from one into another.
    """
    if 0 in shape:
        return (1,) * len(new)
    chunks: list[tuple[int, int]] = []  # elements, and the stride of the innermost
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if chunks and chunks[-1][1] == size * stride:
            chunks[-1] = (chunks[-1][0] * size, stride)
        else:
            chunks.append((size, stride))
    result: list[int] = []
    left, step = 1, 1
    for size in reversed(new):
        if left == 1 and size != 1 and chunks:
            left, step = chunks.pop()
        if left % size:
            return None
        result.append(step)
        left, step = left // size, step * size
    return tuple(reversed(result))


def reshape(op: ir.Operation, shape: Sizes, strides: Sizes, new: Sizes) -> Sizes | None:
    return reshaped(shape, strides, new)


def expand(op: ir.Operation, shape: Sizes, strides: Sizes, new: Sizes) -> Sizes:
    added = (0,) * (len(new) - len(shape))
    kept = zip(new[len(added) :], shape, strides, strict=True)
    return (*added, *(0 if size != old else stride for size, old, stride in kept))


def reverse(op: ir.Operation, shape: Sizes, strides: Sizes, new: Sizes) -> Sizes:
    return tuple(reversed(strides))


def transpose(op: ir.Operation, shape: Sizes, strides: Sizes, new: Sizes) -> Sizes:
    if not shape:
        return strides
    first, second = (_dimension(op, index, shape) for index in (1, 2))
    order = list(range(len(shape)))
    order[first], order[second] = order[second], order[first]
    return tuple(strides[dimension] for dimension in order)


def permute(op: ir.Operation, shape: Sizes, strides: Sizes, new: Sizes) -> Sizes:
    order = [_integer(operand) % len(shape) for operand in op.operands[1].owner.operands]
    return tuple(strides[dimension] for dimension in order)


def select(op: ir.Operation, shape: Sizes, strides: Sizes, new: Sizes) -> Sizes:
    dimension = _dimension(op, 1, shape)
    return strides[:dimension] + strides[dimension + 1 :]


def cut(op: ir.Operation, shape: Sizes, strides: Sizes, new: Sizes) -> Sizes:
    dimension, step = _dimension(op, 1, shape), _integer(op.operands[4])
    return (*strides[:dimension], strides[dimension] * step, *strides[dimension + 1 :])


def keep(op: ir.Operation, shape: Sizes, strides: Sizes, new: Sizes) -> Sizes:
    return strides


def _dimension(op: ir.Operation, index: int, shape: Sequence[int]) -> int:
    return _integer(op.operands[index]) % len(shape)


def _integer(value: ir.Value) -> int:
    return ir.IntegerAttr(value.owner.attributes["value"]).value
