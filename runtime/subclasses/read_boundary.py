"""Reads from the IR what wrapper subclasses are around a program, and which of them its backward reads.

`dovetail.arguments` and `dovetail.results` of `@call` say it, and the border.
"""

from collections.abc import Callable, Mapping

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, FORWARD, IN_RESULT, REREAD, WATCHED
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.reading import Module, argument_facts, referred, result_facts
from dovetail.dialects.sizes.size_expressions import Numbered, function_of
from dovetail.dialects.sizes.symbols import KnownSize, symbols
from dovetail.dialects.statements.saved import checked_results, saved_values
from dovetail.dialects.statements.subclasses import convention
from dovetail.dialects.statements.wrapped import Convention, Wrapped
from dovetail.runtime.autograd.read_border import made_results, stated_checks
from dovetail.runtime.autograd.read_layouts import lying
from dovetail.runtime.subclasses.boundary import Boundary, Facts
from dovetail.runtime.subclasses.versions import BackwardReads


def read_boundary(module: Module) -> Boundary | None:
    """Reads what `@call` states, None where its caller passes and gets plain values only."""
    stated = convention(module.call)
    if stated is None:
        return None
    expected = _expected(module.call, stated)
    taken = {number: ir.BlockArgument(value).arg_number for number, value in symbols(module.call).items()}
    return Boundary(
        count=len(module.call.type.inputs),
        symbols={number: stated.arguments.index(position) for number, position in taken.items()},
        convention=_of_numbers(stated),
        expected=expected,
        reads=_reads(module),
    )


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
    """For each part of an argument its `Facts`, by the numbers that the symbols are.

    Raises:
        ModuleError: for one of which less is said.
    """
    wrapped = [argument for argument in stated.arguments if isinstance(argument, Wrapped)]
    positions = [position for argument in wrapped for position in argument.positions()]
    facts = argument_facts(call)
    return {position: _lying(call, position, facts[position]) for position in positions}


def _lying(
    call: func.FuncOp, position: int, stated: Mapping[str, ir.Attribute]
) -> Callable[[Mapping[int, int]], Facts]:
    ref = RefType(call.type.inputs[position])
    where, dtype = lying(call, position, stated), getattr(torch, ref.shaped.dtype)
    if ref.is_static:
        known = (*where({}), dtype, False)
        return lambda _: known
    return lambda known: (*where(known), dtype, False)


def _reads(module: Module) -> BackwardReads:
    """Reads from the border which memory the backward or eager's checks, and from `@call` which results lie in it."""
    facts = enumerate(result_facts(module.call))
    lying_in = {position: ir.IntegerAttr(each[IN_RESULT]).value for position, each in facts if IN_RESULT in each}
    arguments: set[int] = set()
    handed_out: set[int] = set()
    for border in module.borders.values():
        forward, backward = (module.functions[referred(border, half)] for half in (FORWARD, BACKWARD))
        values = saved_values(forward, backward)
        if any(value.is_checked and value.checked_for is None for value in values):  # nothing is said yet
            given, got = (frozenset(range(len(types))) for types in (border.type.inputs, module.call.type.results))
            return BackwardReads(given, got, got)
        arguments |= {value.in_argument for value in values if value.in_argument is not None}
        handed_out |= {each for one in values for each in (one.result, one.in_result) if each is not None}
        handed_out |= checked_results(forward).keys()
        owns = made_results(forward, len(border.type.results))
        for check in (each for name in (WATCHED, REREAD) for each in stated_checks(border, owns, name)):
            (arguments if check.is_argument else handed_out).add(check.position)
    results = frozenset(position for position, number in lying_in.items() if number in handed_out)
    return BackwardReads(frozenset(arguments), results, frozenset(lying_in))
