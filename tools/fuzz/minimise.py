"""The smallest program that still shows a difference of the same kind: what can be left out, is."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from dovetail.tools.fuzz.check import check
from dovetail.tools.fuzz.computations.inputs import fresh as fresh_numbers
from dovetail.tools.fuzz.derivatives import uses
from dovetail.tools.fuzz.helpers import SOURCES
from dovetail.tools.fuzz.program import Block, Call, CodeLine, Program, Statement, code_lines
from dovetail.tools.fuzz.recipes import fresh


def minimise(program: Program, fails: Callable[[Program], bool], limit: int = 400) -> Program:
    """Takes smaller programs while `fails` holds, trying at most `limit`; `fails(program)` must hold."""
    position = since = 0  # where in the list of smaller programs, and how many of it failed in a row
    for _ in range(limit):
        smaller = list(_smaller(program))
        if since >= len(smaller):
            break
        candidate = smaller[position % len(smaller)]
        if fails(candidate):
            program, since = candidate, 0
        else:
            position, since = position + 1, since + 1
    return program


def shows(family: str, backend: str, iree: bool = False) -> Callable[[Program], bool]:
    """Whether a program shows a difference of this family (`Difference.family`)."""

    def fails(program: Program) -> bool:
        try:
            found = check(program, backend, iree).found
        except Exception:  # of making arguments, for one: what can't be run shows nothing
            return False
        return any(each.family == family for each in found)

    return fails


def _smaller(program: Program) -> Iterator[Program]:
    """Programs with one thing less, the largest things first. Some of them mean nothing; eager raises for those."""
    if program.form:
        yield replace(program, form="")
    for calls in _without_one(program.calls):
        if calls:
            yield replace(program, calls=calls)
    for body in _smaller_bodies(program.body):
        yield _tidy(replace(program, body=body))
    for body, names in _without_values(program.body):
        yield _tidy(_renamed(replace(program, body=body), names))
    for results in _without_one(program.results):
        yield _tidy(replace(program, results=results))
    if len(program.results) == 1 and program.container != "single":
        yield replace(program, container="single")
    if program.container not in ("tuple", "single"):
        yield replace(program, container="tuple")
    for index, result in enumerate(program.results):
        if result.operands and result.template != "{0}":
            plain = CodeLine("{0}", result.operands[:1])
            yield replace(program, results=(*program.results[:index], plain, *program.results[index + 1 :]))
    for state in _without_one(program.state):
        yield replace(program, state=state)
    for captured in _without_one(program.captured):
        yield replace(program, captured=captured)
    yield from _without_parameter(program)
    for index, call in enumerate(program.calls):
        for simpler in _simpler_calls(program, call):
            yield replace(program, calls=(*program.calls[:index], simpler, *program.calls[index + 1 :]))


def _without_one(items: tuple) -> Iterator[tuple]:
    for index in range(len(items)):
        yield items[:index] + items[index + 1 :]


def _smaller_bodies(body: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    """Without one statement, or with a block's content in place of the block."""
    yield from _without_one(body)
    for index, each in enumerate(body):
        before, after = body[:index], body[index + 1 :]
        if isinstance(each, Block):
            yield (*before, *each.body, *after)
            for smaller in _smaller_bodies(each.body):
                if smaller:
                    yield (*before, replace(each, body=smaller), *after)


def _without_values(body: tuple[Statement, ...]) -> Iterator[tuple[tuple[Statement, ...], dict[str, str]]]:
    """Without one assignment, whose target is its operand from then on."""
    for index, each in enumerate(body):
        before, after = body[:index], body[index + 1 :]
        if isinstance(each, Block):
            for smaller, names in _without_values(each.body):
                yield (*before, *((replace(each, body=smaller),) if smaller else ()), *after), names
        elif each.targets:
            for operand in dict.fromkeys(each.operands):
                yield (*before, *after), dict.fromkeys(each.targets, operand)


def _renamed(program: Program, names: dict[str, str]) -> Program:
    return replace(
        program,
        body=tuple(each.renamed(names) for each in program.body),
        results=tuple(result.renamed(names) for result in program.results),
    )


def _tidy(program: Program) -> Program:
    """Without empty blocks and without custom functions that nothing calls."""
    text = " ".join(line.template for line in code_lines(program.body))
    return replace(program, helpers=tuple(name for name in SOURCES if f"{name}.apply" in text))


def _without_parameter(program: Program) -> Iterator[Program]:
    used = {name for each in (*code_lines(program.body), *program.results) for name in each.operands}
    for index, parameter in enumerate(program.parameters):
        if parameter.name not in used and len(program.parameters) > 1:
            yield replace(program, parameters=program.parameters[:index] + program.parameters[index + 1 :])


def _simpler_calls(program: Program, call: Call) -> Iterator[Call]:
    for later in _without_one(call.later):
        yield replace(call, later=later)
    if call.mode:
        yield replace(call, mode="")
    if call.backward != "none":
        yield replace(call, backward="none")
    if call.backward not in ("none", "once"):
        yield replace(call, backward="once")
    for backward in uses.smaller(call.backward):
        yield replace(call, backward=backward)
    for inputs in _without_one(call.inputs):
        yield replace(call, inputs=inputs)
    for parameter in program.parameters:
        if parameter.made:
            continue
        others = tuple(each for each in call.inputs if parameter.name not in each.targets)
        recipe = fresh if program.kind == "alias" else fresh_numbers
        simple, with_gradient = (recipe(parameter, int(parameter.name[1:]), grad) for grad in (False, True))
        if simple[0] in call.inputs:
            continue
        yield replace(call, inputs=(*simple, *others))
        if with_gradient[0] not in call.inputs:
            yield replace(call, inputs=(*with_gradient, *others))
