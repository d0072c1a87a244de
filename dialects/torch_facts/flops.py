"""How many floating-point operations an op does, a multiplication with an addition counting as two.

One formula for each way of counting; an op's row (`dialects.torch_facts.row`) names its own.
"""

from collections.abc import Callable, Iterable
from math import prod

from torch_mlir import ir

from dovetail.dialects.torch_facts.types import TensorInfo

Expected = Callable[[Iterable[ir.Value]], list[TensorInfo]]
"""What tensors are expected to look like: `dialects.sizes.expected`."""

Flops = Callable[[ir.Operation, Expected], int]

# Of `convolution_backward`: whether the gradients of input and weight are wanted (the bias's is a sum).
_OUTPUT_MASK = 10


def none(_: ir.Operation, __: Expected) -> int:
    """Of what computes nothing."""
    return 0


def of_results(op: ir.Operation, expected: Expected) -> int:
    """One for each element of the largest result, or of the last operand, where a call is given memory for it."""
    return max((info.numel for info in expected(list(op.results) or list(op.operands)[-1:])), default=0)


def of_all(op: ir.Operation, expected: Expected) -> int:
    """One for each element of the largest result or operand, which is what a reduction reads."""
    return max((info.numel for info in expected([*op.results, *op.operands])), default=0)


def product(op: ir.Operation, expected: Expected) -> int:
    """Of the product of the first two operands."""
    return _products(op, expected(op.operands)[0], expected)


def added_product(op: ir.Operation, expected: Expected) -> int:
    """Of the product of the second and third operands, which is added to the first."""
    return _products(op, expected(op.operands)[1], expected)


def convolution(transposed_at: int | None) -> Flops:
    """Of a convolution whose operand `transposed_at` says whether it is a transposed one; None: it never is."""

    def flops(op: ir.Operation, expected: Expected) -> int:
        image, weight = expected(op.operands)[:2]
        return _moved(op, image, weight, expected(op.results)[0], transposed_at)

    return flops


def convolution_backward(op: ir.Operation, expected: Expected) -> int:
    """Of one convolution for each of the gradients of input and weight that is wanted."""
    made, image, weight = expected(op.operands)[:3]
    wanted = sum(map(_is_true, list(op.operands[_OUTPUT_MASK].owner.operands)[:2]))
    return wanted * _moved(op, image, weight, made, transposed_at=7)


def attention(op: ir.Operation, expected: Expected) -> int:
    """Of the products of query and key, and of those with value."""
    query, key, value = expected(op.operands)[:3]
    return 2 * _scores(query, key) * (query.shape[-1] + value.shape[-1])


def attention_backward(op: ir.Operation, expected: Expected) -> int:
    """As PyTorch counts it (torch/utils/flop_counter.py), which has the scores computed again: five products."""
    query, key, value = expected(op.operands)[1:4]
    return 2 * _scores(query, key) * (3 * query.shape[-1] + 2 * value.shape[-1])


def _products(op: ir.Operation, left: TensorInfo, expected: Expected) -> int:
    made = list(op.results) or list(op.operands)[-1:]
    return 2 * expected(made)[0].numel * left.shape[-1]


def _moved(op: ir.Operation, image: TensorInfo, weight: TensorInfo, made: TensorInfo, transposed_at: int | None) -> int:
    """Each element of what the filter is moved over (the input, if transposed) meets one filter's weights."""
    is_transposed = transposed_at is not None and _is_true(op.operands[transposed_at])
    return 2 * (image if is_transposed else made).numel * prod(weight.shape[1:])


def _scores(query: TensorInfo, key: TensorInfo) -> int:
    return prod(query.shape[:-1]) * key.shape[-2]


def _is_true(value: ir.Value) -> bool:
    return ir.BoolAttr(value.owner.attributes["value"]).value
