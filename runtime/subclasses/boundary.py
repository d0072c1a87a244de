"""Around a program of plain tensors: the wrapper subclasses that its caller passes and gets.

See docs/decisions/0013-subclasses.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from dovetail.dialects.statements.wrapped import Convention, Same, Wrapped
from dovetail.errors import AliasMismatch
from dovetail.runtime.subclasses.versions import BackwardReads, check_wrappers
from dovetail.wrapping import parts, unwrap, wrap

Facts = tuple
"""What `_facts` says of a part."""


@dataclass(frozen=True)
class Boundary:
    """What a call around a program of plain tensors needs to know.

    Attributes:
        count: how many plain arguments the program takes.
        symbols: for each symbol's number, which of the values that the caller passes is the symbol.
        convention: what the caller passes and gets, by the numbers that the symbols are.
        expected: for each part of a wrapped argument, by its position, what is said of it, by these numbers.
        reads: what the backward reads.
    """

    count: int
    symbols: Mapping[int, int]
    convention: Callable[[Mapping[int, int]], Convention]
    expected: Mapping[int, Callable[[Mapping[int, int]], Facts]]
    reads: BackwardReads


def with_subclasses(boundary: Boundary, program: Callable) -> Callable:
    """`program`, which runs `@call`, as a function of what the user passes; returns what the user gets."""

    def run(given: list) -> list:
        """Calls the program with the tensors inside of `given`, which it empties.

        Raises:
            AliasMismatch: for a wrapper around other tensors than assumed, before anything ran.
        """
        passed = list(given)
        given.clear()
        known = {number: passed[index] for number, index in boundary.symbols.items()}
        here = boundary.convention(known)
        plain: list = [None] * boundary.count
        for number, (argument, value) in enumerate(zip(here.arguments, passed, strict=True)):
            if isinstance(argument, int):
                plain[argument] = value
                continue
            expected = [boundary.expected[position](known) for position in argument.positions()]
            for position, part in zip(argument.positions(), _parts(argument, value, number, expected), strict=True):
                plain[position] = part
        results = program(plain)
        for argument, value in zip(here.arguments, passed, strict=True):
            if isinstance(argument, Wrapped):
                for _ in range(argument.versions):
                    torch.autograd.graph.increment_version(value)
        found: list = []
        for entry in here.results:
            found.append(_result(entry, results, passed, found))
        check_wrappers(boundary.reads, here, results, passed, found)
        return found

    return run


def _parts(wrapped: Wrapped, value: torch.Tensor, number: int, expected: Sequence[Facts]) -> Sequence[torch.Tensor]:
    """The tensors inside of argument `number`, if they are as `expected`."""
    try:
        tensors: Sequence[torch.Tensor] = parts(wrapped, value)
    except TypeError as error:
        raise AliasMismatch(f"argument {number}: {error}") from error
    if list(map(_facts, tensors)) != list(expected):
        raise AliasMismatch(f"argument {number} holds other tensors than assumed")
    return unwrap(wrapped, value) if torch.is_grad_enabled() and value.requires_grad else tensors


def _result(entry: int | Wrapped | Same, results: Sequence, passed: Sequence, found: Sequence):
    match entry:
        case int():
            return results[entry]
        case Wrapped():
            return wrap(entry, results)
    return passed[entry.index] if entry.kind == "argument" else found[entry.index]


def _facts(part: torch.Tensor) -> Facts:
    return tuple(part.size()), part.stride(), part.dtype, part.requires_grad
