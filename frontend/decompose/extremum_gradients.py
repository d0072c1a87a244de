"""Gradients of the largest, smallest and middle of all elements, as eager's kernels compute them.

Where tensors have no memory, PyTorch's formula multiplies by what tells which elements those are: 0 times an infinite
gradient is NaN. On a CPU eager selects.
"""

from collections.abc import Callable
from functools import cache

import torch
from torch._C import DispatchKey

aten = torch.ops.aten

_EXTREMA = (aten.max.default, aten.min.default, aten.median.default, aten.nanmedian.default)


@cache
def extremum_gradients() -> dict[torch._ops.OpOverload, Callable]:
    """By the overload, a kernel for autograd that selects, but inside of `torch.func`'s transforms."""
    return {overload: selecting(overload) for overload in _EXTREMA}


def _set_kernel(overload: torch._ops.OpOverload, kernel: Callable | None) -> None:
    overload.py_kernels.pop(DispatchKey.Autograd, None)
    if kernel is not None:
        overload.py_kernels[DispatchKey.Autograd] = kernel
    overload._dispatch_cache.clear()


def selecting(overload: torch._ops.OpOverload) -> Callable[[torch.Tensor], torch.Tensor]:
    """The function `overload` with a gradient that selects."""

    class Extremum(torch.autograd.Function):
        @staticmethod
        def forward(ctx, value: torch.Tensor) -> torch.Tensor:
            with torch._C._AutoDispatchBelowAutograd():
                found = overload(value)
            ctx.save_for_backward(value, found)
            return found

        @staticmethod
        def backward(ctx, gradient: torch.Tensor) -> torch.Tensor:
            value, found = ctx.saved_tensors
            is_it = (value == found) | (value.isnan() & found.isnan())
            return torch.where(is_it, gradient / is_it.sum(), 0.0)

    def kernel(value: torch.Tensor) -> torch.Tensor:
        if not torch._C._are_functorch_transforms_active():
            return Extremum.apply(value)
        _set_kernel(overload, None)
        try:
            return overload(value)
        finally:
            _set_kernel(overload, kernel)

    return kernel
