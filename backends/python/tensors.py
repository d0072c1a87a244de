"""What generated Python does to tensors besides calling ATen: writes to the user's, and how an operand lies."""

from collections.abc import Callable

import torch

increment_versions = torch._C._increment_version
"""Moves the version counters of a tuple's tensors on, as an in-place op would, for each time that they are in it."""


def with_strides(tensor: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """`tensor` itself if it has `strides` (in elements), else a copy that has them."""
    if tensor.stride() == strides:
        return tensor
    if tensor.dim() == 2 and tensor.numel() and strides == (1, tensor.size(0)):
        # ATen transposes a matrix by blocks where the copy is the one in rows, ten times as fast.
        return tensor.t().clone(memory_format=torch.contiguous_format).t()
    laid_out = torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device)
    return laid_out.copy_(tensor)


def laid_out(tensor: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """`tensor` with `strides` (in elements), in which elements may share memory: itself, a view of it or a copy."""
    if tensor.stride() == strides:
        return tensor
    steps = [dim for dim in zip(tensor.shape, strides, tensor.stride(), strict=True) if dim[0] != 1]
    if not tensor.numel() or all(wanted == given for _, wanted, given in steps):
        return tensor.as_strided(tensor.shape, strides)
    reach = 1
    for size, stride, _ in sorted(steps, key=lambda each: each[1]):
        if stride < reach:
            return _overlapping(tensor, strides)
        reach += (size - 1) * stride
    return with_strides(tensor, strides)


def in_order(tensor: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """`tensor` itself if it has `strides` (in elements) but along dimensions of one element, else a copy with them."""
    if tensor.stride() == strides:
        return tensor
    steps = zip(tensor.shape, strides, tensor.stride(), strict=True)
    return (
        tensor if all(size == 1 or wanted == given for size, wanted, given in steps) else with_strides(tensor, strides)
    )


def in_rows(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor`, or a copy of it, its last dimension contiguous."""
    is_in_rows = not tensor.dim() or tensor.size(-1) == 1 or tensor.stride(-1) == 1
    return tensor if is_in_rows else tensor.contiguous()


def _overlapping(tensor: torch.Tensor, strides: tuple[int, ...]) -> torch.Tensor:
    """A copy of `tensor` in which several elements, equal ones, are one in memory: expanded, or windows."""
    last = sum((size - 1) * stride for size, stride in zip(tensor.shape, strides, strict=True))
    addresses = torch.arange(last + 1, device=tensor.device).as_strided(tensor.shape, strides)
    memory = tensor.new_zeros(last + 1).index_put((addresses,), tensor)
    return memory.as_strided(tensor.shape, strides)


def _write_no_grad(ref: torch.Tensor, value: torch.Tensor) -> None:
    # As `torch.no_grad()`, which takes three times as long as the copy of a number.
    was_enabled = torch.is_grad_enabled()
    torch._C._set_grad_enabled(False)
    try:
        ref.copy_(value)
    finally:
        torch._C._set_grad_enabled(was_enabled)


def write_numbers(refs: tuple[torch.Tensor, ...], values: tuple[torch.Tensor, ...]) -> None:
    """Copies whole numbers to arguments, all at once: a launch on a GPU, whose versions move by one each."""
    was_enabled = torch.is_grad_enabled()
    torch._C._set_grad_enabled(False)
    try:
        if any(ref.is_neg() for ref in refs):  # which copies of several tensors refuse
            for ref, value in zip(refs, values, strict=True):
                ref.copy_(value)
        else:
            torch._foreach_copy_(refs, values)
    finally:
        torch._C._set_grad_enabled(was_enabled)


def _write_hidden(ref: torch.Tensor, value: torch.Tensor) -> None:
    # Unlike `detach()`, which shares the version counter.
    ref.data.copy_(value)


WRITES: dict[str, Callable] = {"tracked": torch.Tensor.copy_, "no_grad": _write_no_grad, "hidden": _write_hidden}
