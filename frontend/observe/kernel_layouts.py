"""Where the CPU's kernels lay their results out otherwise than PyTorch's own description of them says."""

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map_only


def as_kernel_lays_out(func: Callable, args: tuple, kwargs: dict, result):
    """`result` of `func`, called on tensors without memory, in the layout that eager's kernel would give it."""
    source = args[0] if args else None
    if not isinstance(source, torch.Tensor) or not source.is_cpu or not isinstance(func, torch._ops.OpOverload):
        return result
    if func is torch.ops.aten.native_batch_norm.default:
        normalized, *statistics = result
        return (torch.empty_like(normalized, memory_format=_suggested(source)), *statistics)
    if not isinstance(result, torch.Tensor) or result.numel():
        return result
    if func is torch.ops.aten.view.default:
        return source.as_strided(result.size(), result.stride(), source.storage_offset())
    return _laid_out(func, args, kwargs, result) if torch.Tag.pointwise in func.tags else result


def _laid_out(func: torch._ops.OpOverload, args: tuple, kwargs: dict, result: torch.Tensor) -> torch.Tensor:
    """An empty `result` with the strides that the kernel gives it: it has nothing to compute."""
    if any(each.alias_info is not None for each in func._schema.returns):
        return result
    with _disable_current_modes():
        real = func(*tree_map_only(torch.Tensor, _real, args), **tree_map_only(torch.Tensor, _real, kwargs))
    return result.new_empty_strided(result.size(), real.stride())


def _real(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)


def _suggested(tensor: torch.Tensor) -> torch.memory_format:
    """Channels last where `tensor` is dense in that order, rows first for all else."""
    channels_last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensor.dim())
    if channels_last is not None and tensor.is_contiguous(memory_format=channels_last):
        return channels_last
    return torch.contiguous_format
