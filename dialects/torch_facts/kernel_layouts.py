"""Where kernels lay their results out otherwise than PyTorch's own description of them says."""

from collections.abc import Callable, Sequence

import torch
from torch._prims_common import make_contiguous_strides_for
from torch.fx.experimental.symbolic_shapes import guard_or_false, guard_or_true, statically_known_true
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map_only

from dovetail.dialects.torch_facts.broadcast_strides import broadcast_strides, is_dense, is_open_size
from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.dialects.torch_facts.ops import row_of_func
from dovetail.dialects.torch_facts.row import Layout
from dovetail.dialects.torch_facts.strides import Strides
from dovetail.errors import UnsupportedError

_aten = torch.ops.aten

KERNELS = {"cpu": "cpu", "cuda": "cuda"}
"""By device type: whose kernels run there."""


class KernelLayouts(TorchDispatchMode):
    """Gives what ops make of tensors without memory the layouts of eager's kernels."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        given = kwargs or {}
        return as_kernel_lays_out(func, args, given, func(*args, **given))


def as_kernel_lays_out(func: Callable, args: tuple, kwargs: dict, result):
    """`result` of `func`, called on tensors without memory, in the layout that eager's kernel would give it."""
    tensors = [leaf for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)]
    if not tensors or tensors[0].device.type not in KERNELS or not isinstance(func, torch._ops.OpOverload):
        return result
    if func._opname.endswith("_like") and kwargs.get("memory_format") in (None, torch.preserve_format):
        return _with_strides(result, _strides_of_like(tensors[0]))
    if func is _aten.constant_pad_nd.default and _pads_nothing(args[1]):
        return torch.empty_like(tensors[0].as_strided(result.size(), tensors[0].stride()))
    layout = _layout(func, args, KERNELS[tensors[0].device.type])
    has_elements = isinstance(result, torch.Tensor) and not is_empty(result)
    if has_elements and layout in (Layout.TOLD, Layout.TOGETHER, Layout.ITERATED, Layout.SWAPPED):
        strides = broadcast_strides(func, args, result, layout)
        if strides is not None:
            return _with_strides(result, strides)
    if layout not in (Layout.TOLD, Layout.ITERATED, Layout.SWAPPED, Layout.COPIED):
        return _relaid(result, layout, tensors)
    if has_elements or not isinstance(result, torch.Tensor):
        return result
    if func is _aten.view.default:
        return tensors[0].as_strided(result.size(), result.stride(), tensors[0].storage_offset())
    return _laid_out(func, args, kwargs, result) if torch.Tag.pointwise in func.tags else result


def _pads_nothing(pad: Sequence[int | torch.SymInt]) -> bool:
    """Whether the kernel copies a part of its operand as that lies: of open sizes it is described to lie in rows."""
    return any(map(is_open_size, pad)) and all(guard_or_false(size <= 0) for size in pad)


def laid_out_as(results, strides: Sequence[Strides | None]):
    """A tuple of empty `results` with these strides, None of what is no tensor; `results` where none are given."""
    if not strides:
        return results
    pairs = zip(results, strides, strict=True)
    return tuple(info if wanted is None else _with_strides(info, wanted) for info, wanted in pairs)


def _layout(func: torch._ops.OpOverload, args: tuple, kernels: str) -> Layout:
    facts = row_of_func(func)
    # What was found of the CPU's kernels is taken to hold of those of GPUs, too, where nothing else was measured.
    on_cuda = facts.layout_on_cuda if kernels == "cuda" else None
    layout = on_cuda or facts.layout
    return Layout.TOLD if func is _aten.roll.default and _is_row_major(*args) else layout


def _is_row_major(source: torch.Tensor, shifts: list[int], dims: Sequence[int] = ()) -> bool:
    """Whether a roll lays out row by row, as is described: that of all elements, or with a whole turn in it."""
    if is_empty(source):
        return True
    turns = [shift % source.size(dim) for shift, dim in zip(shifts, dims, strict=False)]
    return not turns or 0 in turns


def _relaid(result, layout: Layout, tensors: list[torch.Tensor]):
    """`result` of an op on `tensors`, the first where there are several, in a layout that is not as described."""
    if not isinstance(result, torch.Tensor):
        return (_relaid(result[0], layout, tensors), *result[1:]) if result[0] is not None else result
    if layout is Layout.TOGETHER:
        is_alone = len(tensors) == 1 or is_empty(result)
        return result if is_alone else _with_strides(result, (tensors[0] + tensors[1]).stride())
    if layout in (Layout.FIRST, Layout.SECOND):
        return _with_strides(result, _strides_of_like(tensors[layout is Layout.SECOND])) if result.dim() else result
    if layout is Layout.ROWS:
        return torch.empty_like(result, memory_format=torch.contiguous_format)
    return torch.empty_like(result, memory_format=_suggested(tensors[layout is Layout.FORMAT_OF_SECOND]))


def _strides_of_like(tensor: torch.Tensor) -> Strides:
    """Those of `empty_like`: the tensor's own if it is dense, whatever they are where there is one element.

    Without memory, PyTorch sorts dimensions by them.
    """
    return tensor.stride() if is_dense(tensor) else torch.empty_like(tensor).stride()


def _with_strides(result: torch.Tensor, strides: Strides) -> torch.Tensor:
    return result.new_empty_strided(result.size(), strides)


def _laid_out(func: torch._ops.OpOverload, args: tuple, kwargs: dict, result: torch.Tensor) -> torch.Tensor:
    """An empty `result` with the strides that the kernel gives it: it has nothing to compute."""
    if any(each.alias_info is not None for each in func._schema.returns):
        return result
    operands = tree_leaves((args, kwargs))
    tensors = [result, *(operand for operand in operands if isinstance(operand, torch.Tensor))]
    if any(is_open_size(number) for tensor in tensors for number in (*tensor.size(), *tensor.stride())):
        if not _is_laid_out_in_rows(result, operands):
            raise UnsupportedError(f"{func}: how a result without elements lies can't be said of open sizes")
        return torch.empty_like(result, memory_format=torch.contiguous_format)
    with _disable_current_modes():
        real = func(*tree_map_only(torch.Tensor, _real, args), **tree_map_only(torch.Tensor, _real, kwargs))
    return _with_strides(result, real.stride())


def _is_laid_out_in_rows(result: torch.Tensor, operands: list) -> bool:
    """Whether the kernel surely lays out an empty `result` row by row.

    It does so where all operands are tensors of one shape. Else it sorts dimensions by their strides, those of one
    element behind those of none; that no size is 1 becomes a guard.
    """
    tensors = [operand for operand in operands if isinstance(operand, torch.Tensor)]
    if len(tensors) == len(operands) and all(_are_equal(each.size(), result.size()) for each in tensors):
        return True
    return all(map(_is_in_rows, tensors)) and all(guard_or_true(size != 1) for size in result.size())


def _is_in_rows(tensor: torch.Tensor) -> bool:
    """Whether `tensor` surely lies row by row, dimensions of one element, which are broadcast, left aside."""
    pairs = zip(tensor.size(), tensor.stride(), make_contiguous_strides_for(tensor.size()), strict=True)
    return all(
        statically_known_true(size == 1) or statically_known_true(stride == rows) for size, stride, rows in pairs
    )


def _are_equal(numbers: Sequence, others: Sequence) -> bool:
    pairs = zip(numbers, others, strict=False)
    return len(numbers) == len(others) and all(statically_known_true(one == other) for one, other in pairs)


def _real(tensor: torch.Tensor) -> torch.Tensor:
    sizes, strides = map(int, tensor.size()), map(int, tensor.stride())  # known by now, if not from the start
    return torch.empty_strided(tuple(sizes), tuple(strides), dtype=tensor.dtype)


def _suggested(tensor: torch.Tensor) -> torch.memory_format:
    """The format that kernels take for a tensor's own: channels last by its strides, or rows first.

    Strides that say both are rows first: those of one image of one pixel, say.
    """
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    if tensor.dim() not in formats or is_empty(tensor) or not tensor.stride(1):
        return torch.contiguous_format
    inner = [1, *range(tensor.dim() - 1, 1, -1)]  # channels, then the pixels' dimensions from the last
    least = 0
    for dim in inner:
        if tensor.stride(dim) < least:
            return torch.contiguous_format
        least = tensor.stride(dim) * tensor.size(dim)
    is_ambiguous = least == tensor.stride(1)
    return torch.contiguous_format if tensor.stride(0) < least or is_ambiguous else formats[tensor.dim()]
