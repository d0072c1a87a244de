"""Casts that copy. A cast to the type that a tensor has gives the tensor itself, which a later write changes; in double
precision every tensor has the type of every other, so that what copies there is told by the program as it is."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import torch
from torch.overrides import TorchFunctionMode


class Casts:
    """Which calls of `Tensor.to` gave another tensor than they took, in order."""

    def __init__(self) -> None:
        self._copied: list[bool] = []

    def noted(self, fn: Callable) -> Callable:
        """`fn`, whose casts are noted."""
        return _in(_Noting(self._copied), fn)

    def repeated(self, fn: Callable) -> Callable:
        """`fn`, whose casts copy where those that were noted did."""
        return _in(_Repeating(iter(self._copied)), fn)


class _Noting(TorchFunctionMode):
    def __init__(self, copied: list[bool]):
        super().__init__()
        self._copied = copied

    def __torch_function__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func is torch.Tensor.to:
            self._copied.append(result is not args[0])
        return result


class _Repeating(TorchFunctionMode):
    def __init__(self, copied: Iterator[bool]):
        super().__init__()
        self._copied = copied

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is torch.Tensor.to and next(self._copied, False):
            kwargs = kwargs | {"copy": True}
        return func(*args, **kwargs)


def _in(mode: AbstractContextManager, fn: Callable) -> Callable:
    def within(*args):
        with mode:
            return fn(*args)

    return within
