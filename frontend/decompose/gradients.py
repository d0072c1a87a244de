"""Gradients from simpler ops in a form that keeps NaN and overflows no earlier than eager's kernels.

PyTorch's own decompositions of these ops give numbers for NaN, or square differences. They stay for half precision, in
which they round as eager does, but of pointwise ops: eager computes these in float32 and rounds once.
"""

from collections.abc import Callable, Sequence

import torch
from torch._decomp import get_decompositions

aten = torch.ops.aten

_FULL = (torch.float32, torch.float64)
_HALVES = (torch.float16, torch.bfloat16)
_MEAN = 1
"""The number of the reduction `mean` in ATen's losses."""


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
    dims = [each for each in range(value.dim()) if each != 1]
    sizes = [1, -1, *[1] * (value.dim() - 2)]
    count = float(value.numel() // max(value.size(1), 1))
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


def _smooth_l1_loss_backward(
    gradient: torch.Tensor, value: torch.Tensor, target: torch.Tensor, reduction: int, beta: float
) -> torch.Tensor:
    difference = value - target
    scaled = gradient / value.numel() if reduction == _MEAN else gradient
    inside = torch.where(difference >= beta, scaled, scaled * difference / beta)
    return torch.where(difference <= -beta, -scaled, inside)


def _in_full_precision(overload: torch._ops.OpOverload, ours: Callable) -> Callable:
    """`ours` for float32 and float64, as far as it goes; else PyTorch's decomposition."""
    by_pytorch = get_decompositions([overload])[overload]

    def backward(*given) -> torch.Tensor | tuple[torch.Tensor | None, ...]:
        tensors = [each for each in given if isinstance(each, torch.Tensor)]
        found = NotImplemented
        if tensors[1].numel() > 0 and _dtype(tensors) in _FULL:
            found = ours(*given)
        return by_pytorch(*given) if found is NotImplemented else found

    return backward


def _in_any_precision(overload: torch._ops.OpOverload, ours: Callable) -> Callable:
    """`ours`, in float32 for half precision; of several element types PyTorch's decomposition."""
    by_pytorch = get_decompositions([overload])[overload]

    def backward(*given) -> torch.Tensor:
        dtype = _dtype([each for each in given if isinstance(each, torch.Tensor)])
        if dtype in _HALVES:
            wide = (each.to(torch.float32) if isinstance(each, torch.Tensor) else each for each in given)
            return ours(*wide).to(dtype)
        return ours(*given) if dtype in _FULL else by_pytorch(*given)

    return backward


def _dtype(tensors: Sequence[torch.Tensor]) -> torch.dtype | None:
    """The element type that all of them have, if it is one."""
    return tensors[0].dtype if all(each.dtype is tensors[0].dtype for each in tensors) else None


GRADIENTS: dict[torch._ops.OpOverload, Callable] = {
    **{
        overload: _in_full_precision(overload, ours)
        for overload, ours in (
            (aten.native_batch_norm_backward.default, _batch_norm_backward),
            (aten.native_group_norm_backward.default, _group_norm_backward),
            (aten.smooth_l1_loss_backward.default, _smooth_l1_loss_backward),
        )
    },
    **{
        overload: _in_any_precision(overload, ours)
        for overload, ours in (
            (aten.elu_backward.default, _elu_backward),
            (aten.hardswish_backward.default, _hardswish_backward),
        )
    },
}
