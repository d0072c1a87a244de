"""Gradients from simpler ops in a form that keeps NaN and overflows no earlier than eager's kernels.

PyTorch's own decompositions of these ops give numbers for NaN, multiply in another order, or square differences.
"""

from collections.abc import Callable

import torch

from dovetail.frontend.decompose.precision import in_any_precision, in_full_precision
from dovetail.frontend.decompose.sums import divisor

aten = torch.ops.aten


def _batch_norm_backward(
    gradient: torch.Tensor,
    value: torch.Tensor,
    weight: torch.Tensor | None,
    running_mean: torch.Tensor | None,
    running_variance: torch.Tensor | None,
    mean: torch.Tensor | None,
    reciprocal: torch.Tensor | None,
    training: bool,
    eps: float,
    wanted: list[bool],
) -> tuple[torch.Tensor | None, ...]:
    """By the normalized value, which is small where the differences of values have no square in float32."""
    if not training or mean is None or reciprocal is None:
        return NotImplemented
    dims = [dim for dim in range(value.dim()) if dim != 1]
    sizes = [1, -1, *[1] * (value.dim() - 2)]
    count = divisor(value.numel() // max(value.size(1), 1))
    normal = (value - mean.view(sizes)) * reciprocal.view(sizes)
    total, along = gradient.sum(dims), (gradient * normal).sum(dims)
    scale = reciprocal if weight is None else reciprocal * weight
    of_value = (gradient - (total / count).view(sizes) - normal * (along / count).view(sizes)) * scale.view(sizes)
    return tuple(each if is_wanted else None for each, is_wanted in zip((of_value, along, total), wanted, strict=True))


def _elu_backward(
    gradient: torch.Tensor, alpha: float, scale: float, input_scale: float, is_result: bool, value: torch.Tensor
) -> torch.Tensor:
    """NaN for NaN, as `_hardswish_backward`."""
    negative = value + alpha * scale if is_result else torch.exp(value * input_scale) * (alpha * scale)
    return torch.where(value > 0, gradient * scale, gradient * input_scale * negative)


def _group_norm_backward(
    gradient: torch.Tensor,
    value: torch.Tensor,
    mean: torch.Tensor,
    reciprocal: torch.Tensor,
    weight: torch.Tensor | None,
    batch: int,
    channels: int,
    pixels: int,
    groups: int,
    wanted: list[bool],
) -> tuple[torch.Tensor | None, ...]:
    """By differences from the means, which are multiplied last: of a group of one number the gradient is exactly zero.

    PyTorch's form adds up products with the reciprocal deviation, which is 316 there. They cancel, but where IREE fuses
    one of them with the sum, the rounding error of the other is left.
    """
    size = channels // groups * pixels
    centred = value.reshape(batch, groups, size) - mean.reshape(batch, groups, 1)
    normal = centred * reciprocal.reshape(batch, groups, 1)
    by_channel = gradient.reshape(batch, channels, pixels)
    scaled = (by_channel if weight is None else by_channel * weight.reshape(channels, 1)).reshape(normal.shape)
    average, along = scaled.mean(2, keepdim=True), (scaled * normal).mean(2, keepdim=True)
    of_value = (scaled - average - normal * along) * reciprocal.reshape(batch, groups, 1)
    of_weight = (by_channel * normal.reshape(by_channel.shape)).sum((0, 2))
    found = of_value.reshape(value.shape), of_weight, by_channel.sum((0, 2))
    return tuple(each if is_wanted else None for each, is_wanted in zip(found, wanted, strict=True))


def _hardswish_backward(gradient: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    """NaN for NaN, as the vectors of ATen's kernel give it; the remainder after them gives `gradient`."""
    inside = torch.where(value >= 3, gradient, gradient * (value / 3 + 0.5))
    return torch.where(value <= -3, 0.0, inside)


def _softmax_backward_data(
    gradient: torch.Tensor, result: torch.Tensor, dim: int, input_dtype: torch.dtype
) -> torch.Tensor:
    return ((gradient - (gradient * result).sum(dim, keepdim=True)) * result).contiguous()


GRADIENTS: dict[torch._ops.OpOverload, Callable] = {
    **in_full_precision(
        {
            aten.native_batch_norm_backward.default: _batch_norm_backward,
            aten.native_group_norm_backward.default: _group_norm_backward,
        }
    ),
    **in_any_precision(
        {
            aten.elu_backward.default: _elu_backward,
            aten.hardswish_backward.default: _hardswish_backward,
            aten.sigmoid_backward.default: lambda gradient, result: gradient * (1 - result) * result,
            aten._softmax_backward_data.default: _softmax_backward_data,
        }
    ),
}
