"""How many floating-point operations a library kernel does, a multiplication with an addition counting as two."""

from math import prod

from torch_mlir import ir

from dovetail.dialects.torch_facts.ops import LIBRARY, aten_name
from dovetail.dialects.torch_facts.types import TensorInfo, tensor_info

# The operands, by place, that say whether a convolution is transposed.
_TRANSPOSED = {"convolution": 6, "_convolution": 6, "convolution_backward": 7}
# Of `convolution_backward`: whether the gradients of input and weight are wanted (the bias's is a sum).
_OUTPUT_MASK = 10


def library_flops(op: ir.Operation) -> int | None:
    """Of contractions, convolutions and attention, by the shapes of what they multiply; None for any other op.

    A backward counts the products that its gradients are made of: for attention those of PyTorch's own count, which has
    the scores computed again (torch/utils/flop_counter.py).
    """
    base = (aten_name(op) or "..").split(".")[1]
    operands = [info for value in op.operands if (info := tensor_info(value.type)) is not None]
    results = [info for value in op.results if (info := tensor_info(value.type)) is not None]
    match LIBRARY.get(base):
        case "contraction":
            left = operands[1] if base.startswith(("add", "badd")) else operands[0]
            return 2 * results[0].numel * left.shape[-1]
        case "convolution":
            return _convolution(op, base, operands, results)
        case "attention":
            is_backward = base.endswith("_backward")
            query, key, value = operands[1:4] if is_backward else operands[:3]
            scores = prod(query.shape[:-1]) * key.shape[-2]
            wide, deep = query.shape[-1], value.shape[-1]
            return 2 * scores * (3 * wide + 2 * deep if is_backward else wide + deep)
    return None


def _convolution(op: ir.Operation, base: str, operands: list[TensorInfo], results: list[TensorInfo]) -> int:
    """Each element of what the filter is moved over (the input, if transposed) meets one filter's weights."""
    is_backward = base == "convolution_backward"
    image, weight = operands[1:3] if is_backward else operands[:2]
    made = operands[0] if is_backward else results[0]
    is_transposed = base in _TRANSPOSED and _is_true(op.operands[_TRANSPOSED[base]])
    products = 1
    if is_backward:
        products = sum(map(_is_true, list(op.operands[_OUTPUT_MASK].owner.operands)[:2]))
    return products * 2 * (image if is_transposed else made).numel * prod(weight.shape[1:])


def _is_true(value: ir.Value) -> bool:
    return ir.BoolAttr(value.owner.attributes["value"]).value
