"""Wrapper subclasses taken apart and put together, in autograd's sight.

The parts of a wrapper are not in autograd's graph: the wrapper is. Where it requires grad, `Unwrap` gives its
parts one, and `Wrap` is its inverse; each is the other's gradient.
"""

import ast
import copy
import functools
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import torch

from dovetail.dialects.statements.wrapped import Wrapped
from dovetail.errors import ModuleError
from dovetail.untraced import untraced


def wrap(wrapped: Wrapped, plain: Sequence) -> torch.Tensor:
    """The wrapper subclass that `wrapped` describes around some of the tensors `plain`; differentiable."""
    parts = [plain[position] for position in wrapped.positions()]
    if torch.is_grad_enabled() and any(part.requires_grad for part in parts):
        return Wrap.apply(_in_order(wrapped), *parts)
    return _put_together(wrapped, iter(parts))


def parts(wrapped: Wrapped, tensor: torch.Tensor) -> list[torch.Tensor]:
    """The plain tensors inside of `tensor`, as the objects that they are; autograd does not see it.

    Raises:
        TypeError: if `tensor` is not what `wrapped` says, with both.
    """
    if type(tensor) is not _class(wrapped.class_name):
        given = type(tensor).__name__ if hasattr(tensor, "__tensor_flatten__") else "plain tensor"
        raise TypeError(f"expected a {wrapped.class_name}, got a {given}")
    names, context = tensor.__tensor_flatten__()  # type: ignore[attr-defined]  # wrapper subclasses have it
    if tuple(names) != wrapped.names or context != _parsed(wrapped.context):
        expected = f"{wrapped.names}, context {wrapped.context}"
        raise TypeError(f"expected a {wrapped.class_name} of {expected}, got {tuple(names)}, context {context}")
    found: list[torch.Tensor] = []
    for name, part in zip(wrapped.names, wrapped.parts, strict=True):
        inner = getattr(tensor, name)
        found += [inner] if isinstance(part, int) else parts(part, inner)
    return found


def unwrap(wrapped: Wrapped, tensor: torch.Tensor) -> Sequence[torch.Tensor]:
    """The plain tensors inside of `tensor`; where it requires grad, aliases of them through which it gets its own."""
    if torch.is_grad_enabled() and tensor.requires_grad:
        return Unwrap.apply(_in_order(wrapped), tensor)
    return parts(wrapped, tensor)


class Wrap(torch.autograd.Function):
    """From all parts of a wrapper, in order, to the wrapper."""

    @staticmethod
    def forward(ctx, wrapped, *parts):
        ctx.wrapped = wrapped
        return _put_together(wrapped, (part.detach() for part in parts))

    @staticmethod
    @untraced
    def backward(ctx, gradient):
        try:
            return None, *unwrap(ctx.wrapped, gradient)
        except TypeError as error:
            raise RuntimeError(f"the gradient of a tensor subclass: {error}") from error


class Unwrap(torch.autograd.Function):
    """From a wrapper to all of its parts, in order."""

    @staticmethod
    def forward(ctx, wrapped, tensor):
        ctx.wrapped = wrapped
        return tuple(part.detach() for part in parts(wrapped, tensor))

    @staticmethod
    @untraced
    def backward(ctx, *gradients):
        return None, wrap(ctx.wrapped, gradients)


def _put_together(wrapped: Wrapped, plain) -> torch.Tensor:
    inner = {
        name: next(plain) if isinstance(part, int) else _put_together(part, plain)
        for name, part in zip(wrapped.names, wrapped.parts, strict=True)
    }
    unflatten: Callable = _class(wrapped.class_name).__tensor_unflatten__  # type: ignore[attr-defined]
    # A context may be mutable, so every wrapper gets one of its own.
    return unflatten(inner, copy.deepcopy(_parsed(wrapped.context)), wrapped.size, wrapped.stride)


def _in_order(wrapped: Wrapped) -> Wrapped:
    """`wrapped` as a description of its own parts: 0, 1, and so on."""
    return _numbered(wrapped, iter(range(len(list(wrapped.positions())))))


def _numbered(wrapped: Wrapped, numbers) -> Wrapped:
    made = tuple(next(numbers) if isinstance(part, int) else _numbered(part, numbers) for part in wrapped.parts)
    return replace(wrapped, parts=made, versions=0)


def _class(name: str) -> type[torch.Tensor]:
    """The wrapper subclass that the text `name` means, of a module that this process has imported already.

    Importing runs code, so a name in a module's text must not make it happen.

    Raises:
        ModuleError: if there is no such class, or it wraps no tensors.
    """
    module, _, qualified = name.partition(":")
    found: Any = sys.modules.get(module)
    for part in qualified.split("."):
        found = vars(found).get(part) if isinstance(found, type | ModuleType) else None
    is_wrapper = isinstance(found, type) and issubclass(found, torch.Tensor) and hasattr(found, "__tensor_unflatten__")
    if not is_wrapper:
        raise ModuleError(f"expected a tensor subclass of a module that is imported already, got {name!r}")
    return found


# Reading the text takes longer than a copy.
_parsed = functools.cache(ast.literal_eval)


def class_name(cls: type) -> str | None:
    """The name by which `_class` finds `cls`, None if it can't be found (a class defined inside of a function)."""
    name = f"{cls.__module__}:{cls.__qualname__}"
    try:
        return name if _class(name) is cls else None
    except ModuleError:
        return None
