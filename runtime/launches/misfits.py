"""The error for an argument that is not as the region expects it."""

from typing import Any

import torch


def misfit(region: str, index: int, given: Any, expected: str) -> TypeError | ValueError:
    """A TypeError for what is no tensor, a ValueError for one that differs from what was `expected`, in words."""
    what = f"region '{region}', argument {index}"
    if not isinstance(given, torch.Tensor):
        return TypeError(f"{what}: got {type(given).__name__}; expected {expected}")
    address = f", address {given.data_ptr():#x}" if given.is_cpu or given.is_cuda else ""
    got = f"{given.dtype}, shape {tuple(given.shape)}, strides {given.stride()}{address}, on {given.device}"
    return ValueError(f"{what}: got {got}; expected {expected}")
