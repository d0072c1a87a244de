"""Layer normalization from simpler ops, in the form that compiles to the fastest code."""

import torch
from torch._decomp import get_decompositions

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.frontend.decompose.counts import counted
from dovetail.frontend.decompose.precision import HALVES

_native_layer_norm = torch.ops.aten.native_layer_norm.default
_by_pytorch = get_decompositions([_native_layer_norm])[_native_layer_norm]
_native_layer_norm_backward = torch.ops.aten.native_layer_norm_backward.default
_backward_by_pytorch = get_decompositions([_native_layer_norm_backward])[_native_layer_norm_backward]


def layer_norm(
    value: torch.Tensor, normalized_shape: list[int], weight: torch.Tensor | None, bias: torch.Tensor | None, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns what `aten.native_layer_norm` does: the normalized value, the mean, the reciprocal standard deviation.

    For float32 the variance is the mean of the squared differences, as in eager: torch-mlir computes `var_mean` in
    float64, which takes a third longer (docs/placement.md). Of values around an infinite mean eager returns NaN as the
    mean, this one the mean; where a square overflows, docs/limits.md says what both return. Anything else is PyTorch's
    own decomposition.
    """
    if is_empty(value) or any(each is not None and each.dtype is not torch.float32 for each in (value, weight, bias)):
        return _by_pytorch(value, normalized_shape, weight, bias, eps)
    dims = list(range(-len(normalized_shape), 0))
    # The sum of some of the largest numbers is none of float32.
    total = value.sum(dims, True, dtype=torch.float64)
    mean = (total / counted(value, dims)).to(torch.float32)
    centred = value - mean
    reciprocal = ((centred * centred).mean(dims, keepdim=True) + eps).rsqrt()
    normal = centred * reciprocal
    if weight is not None:
        normal = normal * weight
    if bias is not None:
        normal = normal + bias
    # As eager's kernel lays it out: random numbers that are drawn over it follow the order of memory.
    return normal.contiguous(), mean, reciprocal


def layer_norm_backward(
    gradient: torch.Tensor,
    value: torch.Tensor,
    normalized_shape: list[int],
    mean: torch.Tensor,
    reciprocal: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    wanted: list[bool],
) -> tuple[torch.Tensor | None, ...]:
    """Returns what `aten.native_layer_norm_backward` does: the gradients of the value, the weight and the bias.

    PyTorch's decomposition divides the reciprocal deviation by the count in the type that it is saved in. Neither the
    quotient nor the count need be numbers of half precision; of float32 they are.
    """
    if reciprocal.dtype in HALVES:
        mean, reciprocal = mean.to(torch.float32), reciprocal.to(torch.float32)
    return _backward_by_pytorch(gradient, value, normalized_shape, mean, reciprocal, weight, bias, wanted)
