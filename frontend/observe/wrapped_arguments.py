"""Wrapper subclasses among a graph's arguments, described as plain tensors and what is around them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from dovetail.dialects.statements.wrapped import Wrapped
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.open_sizes import as_open, known
from dovetail.wrapping import class_name, parts, unwrap, wrap


def is_wrapper(value) -> bool:
    """Whether `value` is a tensor that only holds others."""
    return isinstance(value, torch.Tensor) and is_traceable_wrapper_subclass(value)


def plain_tensors(values: Sequence) -> list[torch.Tensor]:
    """The tensors among `values` and inside of those that are wrappers, in order."""
    return [leaf for value in values if isinstance(value, torch.Tensor) for leaf in _leaves(value)]


def differentiable_tensors(values: Sequence) -> list[torch.Tensor]:
    """Like `plain_tensors`, but gradients flow through the wrappers."""
    found: list[torch.Tensor] = []
    for value in values:
        if is_wrapper(value) and value.requires_grad:
            found += differentiable_parts(value, "a result", 0)[1]
        else:
            found += plain_tensors([value])
    return found


def differentiable_parts(tensor: torch.Tensor, what: str, position: int) -> tuple[Wrapped, Sequence[torch.Tensor]]:
    """What `describe` says of a wrapper, and its parts; where it requires grad, gradients flow through them to it."""
    wrapped = describe(tensor, what, position)
    with torch.enable_grad():
        return wrapped, unwrap(wrapped, tensor)


def _leaves(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    if not is_wrapper(tensor):
        yield tensor
        return
    for name in tensor.__tensor_flatten__()[0]:  # type: ignore[attr-defined]  # wrapper subclasses have it
        yield from _leaves(getattr(tensor, name))


@dataclass(frozen=True)
class PlainArguments:
    """A call's arguments as plain values, with their names; `passed` says what the caller passes, by position in them.

    A part of a wrapper that requires grad is an alias that requires grad. `passed_names` are the caller's.
    """

    passed_names: tuple[str, ...]
    names: tuple[str, ...]
    values: tuple
    passed: tuple[int | Wrapped, ...]

    def positions(self, passed: set[int]) -> set[int]:
        """The positions of all plain values in the arguments number `passed`."""
        chosen = (self.passed[index] for index in passed)
        return {position for each in chosen for position in ((each,) if isinstance(each, int) else each.positions())}


def flatten_arguments(names: Sequence[str], values: Sequence, seen: Sequence) -> PlainArguments:
    """Takes the wrapper subclasses among a call's arguments apart; `seen` are what these are described by.

    Raises:
        UnsupportedError: for a subclass that the IR can't name or make again, naming the argument and the class.
    """
    flat_names: list[str] = []
    flat_values: list = []
    passed: list[int | Wrapped] = []
    for name, value, looks in zip(names, values, seen, strict=True):
        position = len(flat_values)
        if any(value is earlier for earlier in values[: len(passed)]) and is_wrapper(value):
            raise UnsupportedError(f"argument {name}: a {type(value).__name__} that is given twice is not supported")
        if not is_wrapper(value):
            passed.append(position)
            flat_names.append(name)
            flat_values.append(value)
            continue
        wrapped = describe(looks, f"argument {name}", position)
        passed.append(wrapped)
        flat_names += [f"{name}.{path}" for path in _paths(wrapped)]
        flat_values += [_part(part, value, name) for part in parts(wrapped, value)]
    return PlainArguments(tuple(names), tuple(flat_names), tuple(flat_values), tuple(passed))


def _paths(wrapped: Wrapped) -> Iterator[str]:
    for name, part in zip(wrapped.names, wrapped.parts, strict=True):
        yield from (name,) if isinstance(part, int) else (f"{name}.{path}" for path in _paths(part))


def _part(part: torch.Tensor, wrapper: torch.Tensor, name: str) -> torch.Tensor:
    what = f"argument {name}: a {type(wrapper).__name__}"
    if part.requires_grad:
        raise UnsupportedError(f"{what} around a tensor that requires grad itself is not supported")
    if not wrapper.requires_grad:
        return part
    if not (part.is_floating_point() or part.is_complex()):
        raise UnsupportedError(f"{what} that requires grad, around a tensor of {part.dtype}, is not supported")
    return as_open(part.detach().requires_grad_(), part)


def describe(tensor: torch.Tensor, what: str, position: int) -> Wrapped:
    """How to make `tensor`, `what` it is for the user, of plain tensors number `position` and on, if the IR can say."""
    cls = type(tensor)
    names, context = tensor.__tensor_flatten__()  # type: ignore[attr-defined]  # wrapper subclasses have it
    found = class_name(cls)
    if found is None:
        raise UnsupportedError(f"{what}: the subclass {cls.__qualname__} can't be imported from {cls.__module__}")
    if not _is_literal(context):
        raise UnsupportedError(f"{what}: the context of the subclass {cls.__name__} is no Python literal: {context!r}")
    if not names:
        raise UnsupportedError(f"{what}: a {cls.__name__} without a tensor in it is not supported")
    made: list[int | Wrapped] = []
    for name in names:
        inner = getattr(tensor, name)
        made.append(describe(inner, f"{what}.{name}", position) if is_wrapper(inner) else position)
        position += len(plain_tensors([inner]))
    size, stride = (tuple(map(known, numbers)) for numbers in (tensor.size(), tensor.stride()))
    return Wrapped(found, tuple(names), tuple(made), repr(context), size, stride)


def _is_literal(value) -> bool:
    """Whether `value` is what `ast.literal_eval(repr(value))` makes again; subclasses of these types are not."""
    match value:
        case list() | tuple():
            return type(value) in (list, tuple) and all(map(_is_literal, value))
        case dict():
            return type(value) is dict and all(map(_is_literal, [*value.keys(), *value.values()]))
        case float():
            return type(value) is float and math.isfinite(value)
    return type(value) in (bool, int, str, bytes, type(None))


def rebuilt(passed: Sequence[int | Wrapped], values: Sequence) -> list:
    """What the caller passes, around the plain `values`; gradients flow through."""
    with torch.enable_grad():
        return [values[each] if isinstance(each, int) else wrap(each, values) for each in passed]


def checked_gradients(inputs: PlainArguments, primals: Sequence, refusals: list[str]) -> list:
    """`primals`; when their gradients are computed, plain tensors' that are not plain are noted in `refusals`."""
    found = list(primals)
    if all(isinstance(argument, int) for argument in inputs.passed):
        return found
    for name, position in zip(inputs.passed_names, inputs.passed, strict=True):
        if isinstance(position, int) and isinstance(found[position], torch.Tensor) and found[position].requires_grad:
            found[position] = _PlainGradient.apply(found[position], name, refusals)
    return found


class _PlainGradient(torch.autograd.Function):
    """The same tensor; where wrappers and plain tensors meet, a plain one's gradient may be a wrapper."""

    @staticmethod
    def forward(ctx, tensor, name, refusals):
        ctx.name, ctx.refusals = name, refusals
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx, gradient):
        if not is_wrapper(gradient):
            return gradient, None, None
        what = f"argument {ctx.name}: a plain tensor whose gradient is a {type(gradient).__name__}"
        ctx.refusals.append(f"{what} is not supported yet")
        return None, None, None
