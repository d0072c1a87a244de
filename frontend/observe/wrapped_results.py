"""Wrapper subclasses among a graph's results, and what became of those among its arguments."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from dovetail.dialects.statements.wrapped import Same, Wrapped
from dovetail.errors import UnsupportedError
from dovetail.frontend.observe.alias_groups import storage
from dovetail.frontend.observe.wrapped_arguments import PlainArguments, differentiable_parts, is_wrapper, plain_tensors


@dataclass(frozen=True)
class Returned:
    """Results as plain values; `entries` says what the caller gets, by position in them.

    `aliases` are those that stand for a part of a differentiable wrapper: the part's position among all tensors in the
    results, the alias, and the part.
    """

    values: list
    entries: tuple[int | Wrapped | Same, ...]
    aliases: list[tuple[int, torch.Tensor, torch.Tensor]]


def flatten_results(results: Sequence, given: Sequence) -> Returned:
    """Takes the wrapper subclasses among `results` apart; those that are among the arguments `given` stay whole.

    Raises:
        UnsupportedError: for one that can't be made again from parts.
    """
    values: list = []
    entries: list[int | Wrapped | Same] = []
    aliases: list[tuple[int, torch.Tensor, torch.Tensor]] = []
    for index, value in enumerate(results):
        same = _same(value, results[:index], given) if is_wrapper(value) else None
        if not is_wrapper(value):
            entries.append(len(values))
            values.append(value)
        elif same is not None:
            entries.append(same)
        else:
            _check_result(f"result {index}: a {type(value).__name__}", value, [*results, *given])
            wrapped, parts = differentiable_parts(value, f"result {index}", len(values))
            entries.append(wrapped)
            values.extend(parts)
            first = len(plain_tensors(results[:index]))
            inner = plain_tensors([value]) if value.requires_grad else []
            aliases += zip(range(first, first + len(inner)), parts, inner, strict=bool(inner))
    return Returned(values, tuple(entries), aliases)


def _same(value, earlier: Sequence, given: Sequence) -> Same | None:
    for index, argument in enumerate(given):
        if argument is value:
            return Same("argument", index)
    return next((Same("result", index) for index, result in enumerate(earlier) if result is value), None)


def _check_result(what: str, value: torch.Tensor, everything: Sequence) -> None:
    """Views, and gradients, are known for plain tensors only: such a wrapper must share its memory with nothing."""
    inner = plain_tensors([value])
    if value.requires_grad and not all(tensor.is_floating_point() or tensor.is_complex() for tensor in inner):
        raise UnsupportedError(f"{what} that requires grad, around a tensor that can't, is not supported")
    if any(tensor.requires_grad for tensor in inner):
        raise UnsupportedError(f"{what} around a tensor that requires grad itself is not supported yet")
    if not (value._is_view() or value.requires_grad):
        return
    memories = [storage(tensor) for tensor in inner]
    others = plain_tensors([result for result in everything if result is not value])
    if len(set(memories)) < len(memories) or any(storage(other) in memories for other in others):
        raise UnsupportedError(f"{what} that shares memory with an argument or a result is not supported yet")


def count_versions(
    inputs: PlainArguments, values: Sequence, given: Sequence, written: set[int], tracked: set[int]
) -> tuple[int | Wrapped, ...]:
    """`inputs.passed` with what a run on `given`, wrapped around `values`, did to the wrappers' version counters.

    `written` is the memory that the run wrote, `tracked` the plain arguments where autograd followed it.

    Raises:
        UnsupportedError: for a wrapper that was changed in a way that its parts don't show, or that autograd followed.
    """
    found: list[int | Wrapped] = []
    for position in tracked if any(isinstance(argument, Wrapped) for argument in inputs.passed) else ():
        # Its new history would be all that leads to the program, which must be found to check versions.
        what = f"argument {inputs.names[position]}: mutated in autograd's sight"
        raise UnsupportedError(f"{what}, beside tensor subclasses, is not supported yet")
    for each, name, tensor in zip(inputs.passed, inputs.passed_names, given, strict=True):
        if isinstance(each, Wrapped):
            _check_kept(f"argument {name}: a {type(tensor).__name__}", each, tensor, values, written)
            each = replace(each, versions=tensor._version)
        found.append(each)
    return tuple(found)


def _check_kept(what: str, wrapped: Wrapped, tensor: torch.Tensor, values: Sequence, written: set[int]) -> None:
    own = [values[position] for position in wrapped.positions()]
    needs_grad = any(part.requires_grad for part in own)
    if tensor.requires_grad != needs_grad:
        raise UnsupportedError(f"{what} that gets a gradient from what is written to it is not supported yet")
    if needs_grad and (tensor._version or written.intersection(map(storage, own))):
        raise UnsupportedError(f"{what} that requires grad and is mutated is not supported yet")
    is_kept = (tuple(tensor.size()), tuple(tensor.stride())) == (wrapped.size, wrapped.stride)
    has_own = all(storage(new) == storage(old) for new, old in zip(plain_tensors([tensor]), own, strict=True))
    if not (is_kept and has_own):
        raise UnsupportedError(f"{what} that is given other sizes or other tensors is not supported yet")
