"""Where the CPU's kernels lay their results out otherwise than PyTorch's own description of them says."""

from collections.abc import Callable

import torch


def as_kernel_lays_out(func: Callable, source: object, result):
    """`result` of `func`, called on `source` without memory, in the layout that eager's kernel would give it."""
    if (
        func is not torch.ops.aten.native_batch_norm.default
        or not isinstance(source, torch.Tensor)
        or not source.is_cpu
    ):
        return result
    normalized, *statistics = result
    return (torch.empty_like(normalized, memory_format=_suggested(source)), *statistics)


def _suggested(tensor: torch.Tensor) -> torch.memory_format:
    """Channels last where `tensor` is dense in that order, rows first for all else."""
    channels_last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensor.dim())
    if channels_last is not None and tensor.is_contiguous(memory_format=channels_last):
        return channels_last
    return torch.contiguous_format
