"""Around a program of plain tensors: the wrapper subclasses that its caller passes and gets.

What they are made of is said by `dovetail.arguments` and `dovetail.results` of `@call`.
See docs/decisions/0013-subclasses.md.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import Module
from dovetail.dialects.subclasses import Convention, Same, Wrapped, convention
from dovetail.dialects.wrapping import parts, unwrap, wrap
from dovetail.errors import AliasMismatch
from dovetail.runtime.subclasses.versions import check_wrappers, read_saved


def with_subclasses(module: Module, program: Callable) -> Callable:
    """`program`, which runs `@call`, as a function of what the user passes; returns what the user gets."""
    stated = convention(module.call)
    if stated is None:
        return program
    expected, saved = _expected(module.call), read_saved(module)

    def run(given: list) -> list:
        """Calls the program with the tensors inside of `given`, which it empties.

        Raises:
            AliasMismatch: for a wrapper around other tensors than assumed, before anything ran.
        """
        passed, plain = list(given), _plain(stated, expected, given)
        given.clear()
        results = program(plain)
        for argument, value in zip(stated.arguments, passed, strict=True):
            if isinstance(argument, Wrapped):
                for _ in range(argument.versions):
                    torch.autograd.graph.increment_version(value)
        found: list = []
        for entry in stated.results:
            found.append(_result(entry, results, passed, found))
        check_wrappers(saved, stated, results, passed, found)
        return found

    return run


def _plain(stated: Convention, expected: Mapping[int, tuple], given: Sequence) -> list:
    """The tensors inside of `given`, by the positions that the program takes them at."""
    plain: list = [None] * len(expected)
    for number, (argument, value) in enumerate(zip(stated.arguments, given, strict=True)):
        if isinstance(argument, int):
            plain[argument] = value
            continue
        try:
            tensors: Sequence[torch.Tensor] = parts(argument, value)
        except TypeError as error:
            raise AliasMismatch(f"argument {number}: {error}") from error
        for position, part in zip(argument.positions(), tensors, strict=True):
            if expected[position] != _facts(part):
                raise AliasMismatch(f"argument {number} holds other tensors than assumed")
        if torch.is_grad_enabled() and value.requires_grad:
            tensors = unwrap(argument, value)
        for position, part in zip(argument.positions(), tensors, strict=True):
            plain[position] = part
    return plain


def _result(entry: int | Wrapped | Same, results: Sequence, passed: Sequence, found: Sequence):
    match entry:
        case int():
            return results[entry]
        case Wrapped():
            return wrap(entry, results)
    return passed[entry.index] if entry.kind == "argument" else found[entry.index]


def _expected(call: func.FuncOp) -> dict[int, tuple]:
    """For each of the call's tensors what `_facts` says of it; None for its numbers."""
    found: dict[int, tuple] = {}
    for index, type_ in enumerate(call.type.inputs):
        ref = RefType(type_) if isinstance(type_, RefType) else None
        found[index] = (ref.info.shape, ref.strides, getattr(torch, ref.info.dtype), False) if ref else ()
    return found


def _facts(part: torch.Tensor) -> tuple:
    return tuple(part.size()), part.stride(), part.dtype, part.requires_grad
