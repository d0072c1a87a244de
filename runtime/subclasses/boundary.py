"""Around a program of plain tensors: the wrapper subclasses that its caller passes and gets.

What they are made of is said by `dovetail.arguments` and `dovetail.results` of `@call`.
See docs/decisions/0013-subclasses.md.
"""

from collections.abc import Callable, Mapping, Sequence

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import Module, argument_facts
from dovetail.dialects.sizes.size_expressions import Numbered, function_of
from dovetail.dialects.sizes.symbols import KnownSize, symbols
from dovetail.dialects.statements.subclasses import Convention, Same, Wrapped, convention
from dovetail.errors import AliasMismatch
from dovetail.runtime.autograd.read_layouts import lying
from dovetail.runtime.subclasses.versions import check_wrappers, read_saved
from dovetail.wrapping import parts, unwrap, wrap

Facts = tuple
"""What `_facts` says of a part."""


def with_subclasses(module: Module, program: Callable) -> Callable:
    """`program`, which runs `@call`, as a function of what the user passes; returns what the user gets."""
    stated = convention(module.call)
    if stated is None:
        return program
    of_numbers, expected, saved = _of_numbers(stated), _expected(module.call, stated), read_saved(module)
    taken = {number: ir.BlockArgument(value).arg_number for number, value in symbols(module.call).items()}
    count = len(module.call.type.inputs)

    def run(given: list) -> list:
        """Calls the program with the tensors inside of `given`, which it empties.

        Raises:
            AliasMismatch: for a wrapper around other tensors than assumed, before anything ran.
        """
        passed = list(given)
        given.clear()
        plain: list = [None] * count
        for argument, value in zip(stated.arguments, passed, strict=True):
            if isinstance(argument, int):
                plain[argument] = value
        known = {number: plain[position] for number, position in taken.items()}
        here = of_numbers(known)
        for number, (argument, value) in enumerate(zip(here.arguments, passed, strict=True)):
            if isinstance(argument, Wrapped):
                tensors = _parts(argument, value, number, [expected[each](known) for each in argument.positions()])
                for position, part in zip(argument.positions(), tensors, strict=True):
                    plain[position] = part
        results = program(plain)
        for argument, value in zip(here.arguments, passed, strict=True):
            if isinstance(argument, Wrapped):
                for _ in range(argument.versions):
                    torch.autograd.graph.increment_version(value)
        found: list = []
        for entry in here.results:
            found.append(_result(entry, results, passed, found))
        check_wrappers(saved, here, results, passed, found)
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


def _of_numbers(stated: Convention) -> Callable[[Mapping[int, int]], Convention]:
    """`stated` by the numbers that the symbols are, without MLIR."""
    wrapped = [entry for entry in (*stated.arguments, *stated.results) if isinstance(entry, Wrapped)]
    if not any(number for entry in wrapped for number in entry.open_numbers()):
        return lambda _: stated
    functions = stated.with_numbers(_function)
    return lambda known: functions.with_numbers(lambda function: function(known))


def _function(number: KnownSize) -> Numbered:
    return (lambda _: number) if isinstance(number, int) else function_of(number)


def _expected(call: func.FuncOp, stated: Convention) -> dict[int, Callable[[Mapping[int, int]], Facts]]:
    """For each part what `_facts` says of it, by the numbers that the symbols are.

    Raises:
        ModuleError: for one of which less is said.
    """
    wrapped = [argument for argument in stated.arguments if isinstance(argument, Wrapped)]
    positions = [position for argument in wrapped for position in argument.positions()]
    types, facts = call.type.inputs, argument_facts(call)
    return {position: _lying(RefType(types[position]), facts[position]) for position in positions}


def _lying(ref: RefType, stated: Mapping[str, ir.Attribute]) -> Callable[[Mapping[int, int]], Facts]:
    where, dtype = lying(ref, stated), getattr(torch, ref.shaped.dtype)
    if ref.is_static:
        known = (*where({}), dtype, False)
        return lambda _: known
    return lambda known: (*where(known), dtype, False)


def _facts(part: torch.Tensor) -> Facts:
    return tuple(part.size()), part.stride(), part.dtype, part.requires_grad
