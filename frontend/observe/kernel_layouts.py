"""Where the CPU's kernels lay their results out otherwise than PyTorch's own description of them says."""

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map_only

_aten = torch.ops.aten

# Described by ops on one operand or in another order; the kernels go by all of them, as that of a sum does.
_AS_A_SUM = {
    _aten.copysign.Tensor,
    _aten.div.Tensor_mode,
    _aten.floor_divide.default,
    _aten.special_xlog1py.default,
    _aten.xlogy.Tensor,
}
# Described as results that lie as their operands do; the kernels begin with memory of their own.
_IN_ROWS = {
    _aten.isin.Tensor_Scalar,
    _aten.isin.Tensor_Tensor,
    _aten.log_sigmoid_forward.default,
    _aten.poisson.default,
    _aten.pow.Scalar,
    _aten.rrelu_with_noise.default,
}
# Described by ops on both; the kernel goes by the first.
_AS_FIRST = {_aten.binary_cross_entropy.default}
# Described as one or the other; the kernels look for channels last.
_BY_FORMAT = {
    _aten.channel_shuffle.default,
    _aten.max_unpool2d.default,
    _aten.native_batch_norm.default,
    _aten.roll.default,
}


def as_kernel_lays_out(func: Callable, args: tuple, kwargs: dict, result):
    """`result` of `func`, called on tensors without memory, in the layout that eager's kernel would give it."""
    tensors = [each for each in tree_leaves(args) if isinstance(each, torch.Tensor)]
    if not tensors or not tensors[0].is_cpu or not isinstance(func, torch._ops.OpOverload):
        return result
    if func in _BY_FORMAT and not _is_row_major(func, args):
        return _with_first(result, lambda first: torch.empty_like(first, memory_format=_suggested(tensors[0])))
    if func in _IN_ROWS:
        return _with_first(result, lambda first: torch.empty_like(first, memory_format=torch.contiguous_format))
    if not isinstance(result, torch.Tensor):
        return result
    if func in _AS_FIRST and result.dim():
        return torch.empty_like(tensors[0])
    if result.numel():
        is_of_two = func in _AS_A_SUM and len(tensors) > 1 and result.dim()
        return _with_strides(result, tensors[0] + tensors[1]) if is_of_two else result
    if func is _aten.view.default:
        return tensors[0].as_strided(result.size(), result.stride(), tensors[0].storage_offset())
    return _laid_out(func, args, kwargs, result) if torch.Tag.pointwise in func.tags else result


def _is_row_major(func: torch._ops.OpOverload, args: tuple) -> bool:
    """Whether it is a roll that lays out row by row, as is described: of all elements, or with a whole turn in it."""
    if func is not _aten.roll.default:
        return False
    source, shifts, dims = args[0], args[1], args[2] if len(args) > 2 else ()
    turns = [shift % source.size(each) for shift, each in zip(shifts, dims, strict=False)] if source.numel() else []
    return not turns or 0 in turns


def _with_first(result, made_like: Callable[[torch.Tensor], torch.Tensor]):
    """`result`, or the first tensor of it, as another one."""
    return made_like(result) if isinstance(result, torch.Tensor) else (made_like(result[0]), *result[1:])


def _with_strides(result: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return result.new_empty_strided(result.size(), like.stride())


def _laid_out(func: torch._ops.OpOverload, args: tuple, kwargs: dict, result: torch.Tensor) -> torch.Tensor:
    """An empty `result` with the strides that the kernel gives it: it has nothing to compute."""
    if any(each.alias_info is not None for each in func._schema.returns):
        return result
    with _disable_current_modes():
        real = func(*tree_map_only(torch.Tensor, _real, args), **tree_map_only(torch.Tensor, _real, kwargs))
    return _with_strides(result, real)


def _real(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)


def _suggested(tensor: torch.Tensor) -> torch.memory_format:
    """Channels last where `tensor` is dense in that order, rows first for all else."""
    channels_last = {4: torch.channels_last, 5: torch.channels_last_3d}.get(tensor.dim())
    if channels_last is not None and tensor.is_contiguous(memory_format=channels_last):
        return channels_last
    return torch.contiguous_format
