"""Layer and group normalization from simpler ops, in the form that compiles to the fastest code."""

from math import inf

import torch
from torch._decomp import get_decompositions

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.frontend.decompose.precision import HALF_PRECISION
from dovetail.frontend.decompose.sums import counted
from dovetail.frontend.dynamo.open_sizes import expected

_native_layer_norm = torch.ops.aten.native_layer_norm.default
_native_layer_norm_backward = torch.ops.aten.native_layer_norm_backward.default
_by_pytorch = get_decompositions([_native_layer_norm, _native_layer_norm_backward])


_KERNELS_FROM = {"cpu": 1 << 19}
"""By type of device: from how many elements eager's kernel computes all gradients of a layer norm, twice as fast as
regions do."""


def _is_left(value: torch.Tensor, *parameters: torch.Tensor | None) -> bool:
    """Whether there is nothing in `value`, or one of them is not of float32."""
    return is_empty(value) or any(each is not None and each.dtype is not torch.float32 for each in (value, *parameters))


def _standardized(value: torch.Tensor, dims: list[int], eps: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The difference from the mean over `dims`, by the deviation; the mean, and the reciprocal deviation.

    The variance is the mean of the squared differences, as in eager: torch-mlir computes `var_mean` in float64, which
    takes a third longer (docs/placement.md).
    """
    # The sum of some of the largest numbers is none of float32, and some of the smallest have no smaller parts.
    mean = (value.sum(dims, True, dtype=torch.float64) / counted(value, dims)).to(torch.float32)
    centred = value - mean
    reciprocal = ((centred * centred).mean(dims, keepdim=True) + eps).rsqrt()
    return centred * reciprocal, mean, reciprocal


def _weighted(normal: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None) -> torch.Tensor:
    if weight is not None:
        normal = normal * weight
    return normal if bias is None else normal + bias


def layer_norm(
    value: torch.Tensor, normalized_shape: list[int], weight: torch.Tensor | None, bias: torch.Tensor | None, eps: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns what `aten.native_layer_norm` does: the normalized value, the mean, the reciprocal standard deviation.

    Of values around an infinite mean eager returns NaN as the mean, this one the mean; where a square overflows,
    docs/limits.md says what both return. What is not all of float32 is PyTorch's own decomposition.
    """
    if _is_left(value, weight, bias):
        return _by_pytorch[_native_layer_norm](value, normalized_shape, weight, bias, eps)
    normal, mean, reciprocal = _standardized(value, list(range(-len(normalized_shape), 0)), eps)
    # As eager's kernel lays it out: random numbers that are drawn over it follow the order of memory.
    return _weighted(normal, weight, bias).contiguous(), mean, reciprocal


def layer_norm_backward(
    gradient: torch.Tensor,
    value: torch.Tensor,
    normalized_shape: list[int],
    mean: torch.Tensor,
    reciprocal: torch.Tensor,
    *given,
) -> tuple[torch.Tensor | None, ...]:
    """Returns what `aten.native_layer_norm_backward` does: the gradients of the value, the weight and the bias.

    What eager's kernel computes faster stays whole. PyTorch's decomposition divides the reciprocal deviation by the
    count in the type that it is saved in. Neither the quotient nor the count need be numbers of half precision; of
    float32 they are.
    """
    if _is_for_kernels(value, *given):
        return NotImplemented
    if reciprocal.dtype in HALF_PRECISION:
        mean, reciprocal = mean.to(torch.float32), reciprocal.to(torch.float32)
    *parameters, wanted = given
    wide, normalized, *others = (_widened(each) for each in (gradient, value, *parameters))
    statistics = normalized_shape, mean, reciprocal
    made = _by_pytorch[_native_layer_norm_backward](wide, normalized, *statistics, *others, wanted)
    return tuple(
        each if each is None else each.to(like.dtype) for each, like in zip(made, (value, *parameters), strict=True)
    )


def _widened(value: torch.Tensor | None) -> torch.Tensor | None:
    """Half precision in float32, by a conversion alone where it lies in rows.

    PyTorch's decomposition converts by one that names a memory format. That is none to passes: it would be computed
    once for all that takes it.
    """
    is_half = value is not None and value.dtype in HALF_PRECISION and value.is_contiguous()
    return value.to(torch.float32) if value is not None and is_half else value


def _is_for_kernels(
    value: torch.Tensor, weight: torch.Tensor | None, bias: torch.Tensor | None, wanted: list[bool]
) -> bool:
    """Whether all gradients are wanted of a layer norm of float32 numbers, and these are expected to be many."""
    is_many = expected(value.numel()) >= _KERNELS_FROM.get(value.device.type, inf)
    return is_many and all(wanted) and weight is not None and bias is not None and not _is_left(value, weight, bias)


def group_norm(
    value: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    batch: int,
    channels: int,
    pixels: int,
    groups: int,
    eps: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Returns what `aten.native_group_norm` does: the normalized value, and each group's mean and reciprocal deviation.

    torch-mlir's own form adds up a group one number after the other; sums of float32 numbers are then split like all
    others (`split-reductions`). What is laid out otherwise than in rows stays whole, since the kernel's results lie as
    its operand does.
    """
    if _is_left(value, weight, bias) or not value.is_contiguous():
        return NotImplemented
    grouped = value.reshape(batch, groups, channels // groups * pixels)
    normal, mean, reciprocal = _standardized(grouped, [2], eps)
    weight, bias = (None if each is None else each.reshape(channels, 1) for each in (weight, bias))
    normal = _weighted(normal.reshape(batch, channels, pixels), weight, bias)
    return normal.reshape(value.shape), mean.reshape(batch, groups), reciprocal.reshape(batch, groups)
