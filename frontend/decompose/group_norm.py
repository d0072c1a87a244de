"""Group normalization from simpler ops: torch-mlir's own form adds up a group one number after the other."""

import torch

from dovetail.dialects.torch_facts.empty import is_empty


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

    Sums of float32 numbers are then split like all others (`split-reductions`). What is laid out otherwise than in rows
    stays whole, since the kernel's results lie as its operand does.
    """
    given = [each for each in (value, weight, bias) if each is not None]
    if is_empty(value) or not value.is_contiguous() or any(each.dtype is not torch.float32 for each in given):
        return NotImplemented
    grouped = value.reshape(batch, groups, channels // groups * pixels)
    # The sum of some of the largest numbers is none of float32, and some of the smallest have no smaller parts.
    mean = (grouped.sum(2, True, dtype=torch.float64) / grouped.size(2)).to(torch.float32)
    centred = grouped - mean
    reciprocal = ((centred * centred).mean(2, keepdim=True) + eps).rsqrt()
    normal = (centred * reciprocal).reshape(batch, channels, pixels)
    if weight is not None:
        normal = normal * weight.reshape(channels, 1)
    if bias is not None:
        normal = normal + bias.reshape(channels, 1)
    return normal.reshape(value.shape), mean.reshape(batch, groups), reciprocal.reshape(batch, groups)
