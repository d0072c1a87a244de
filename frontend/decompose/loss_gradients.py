"""Gradients of losses from simpler ops.

PyTorch's own decompositions of these ops give numbers for NaN, NaN where nothing is asked of a number, or other numbers
where a factor is 0.
"""

from collections.abc import Callable

import torch
from torch._decomp import get_decompositions

from dovetail.frontend.decompose.precision import in_any_precision, in_full_precision

aten = torch.ops.aten

_MEAN = 1
"""The number of the reduction `mean` in ATen's losses."""


def _binary_cross_entropy_backward(
    gradient: torch.Tensor,
    value: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None = None,
    reduction: int = _MEAN,
) -> torch.Tensor:
    """Eager's smallest divisor is a float32 number in float64, too."""
    result = gradient * (value - target) / torch.clamp(value * (1 - value), min=9.999999960041972e-13)
    if weight is not None:
        result = result * weight
    return result / value.numel() if reduction == _MEAN else result


def _smooth_l1_loss_backward(
    gradient: torch.Tensor, value: torch.Tensor, target: torch.Tensor, reduction: int, beta: float
) -> torch.Tensor:
    difference = value - target
    scaled = gradient / value.numel() if reduction == _MEAN else gradient
    inside = torch.where(difference >= beta, scaled, scaled * difference / beta)
    return torch.where(difference <= -beta, -scaled, inside)


def _soft_margin_loss_backward(
    gradient: torch.Tensor, value: torch.Tensor, target: torch.Tensor, reduction: int
) -> torch.Tensor:
    """PyTorch's decomposition subtracts 1 from a sigmoid that may be nearly 1."""
    result = -torch.sigmoid(-target * value) * target * gradient
    return result / value.numel() if reduction == _MEAN else result


def _nll_loss_backward(
    gradient: torch.Tensor,
    value: torch.Tensor,
    target: torch.Tensor,
    weight: torch.Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: torch.Tensor,
) -> torch.Tensor:
    """Selects where PyTorch's decomposition scatters and multiplies: what is no target has no gradient, not 0 of it."""
    if value.dim() < 2:
        return _by_pytorch(gradient, value, target, weight, reduction, ignore_index, total_weight)
    sizes = [-1, *[1] * (value.dim() - 2)]
    target = target.unsqueeze(1)
    scaled = gradient / total_weight if reduction == _MEAN else gradient
    each = scaled.unsqueeze(1) if scaled.dim() else scaled
    if weight is not None:
        each = each * weight.view(sizes)
    is_target = torch.arange(value.size(1), device=value.device).view(sizes) == target
    return torch.where(is_target & (target != ignore_index), -each, 0.0)


_by_pytorch = get_decompositions([aten.nll_loss_backward])[aten.nll_loss_backward.default]

LOSS_GRADIENTS: dict[torch._ops.OpOverload, Callable] = {
    **in_full_precision({aten.binary_cross_entropy_backward.default: _binary_cross_entropy_backward}),
    **in_any_precision({aten.smooth_l1_loss_backward.default: _smooth_l1_loss_backward}),
    aten.nll_loss_backward.default: _nll_loss_backward,
    aten.nll_loss2d_backward.default: _nll_loss_backward,
    aten.soft_margin_loss_backward.default: _soft_margin_loss_backward,
}
