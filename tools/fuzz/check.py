"""Runs one program eagerly and compiled, in two equal worlds."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import torch

from dovetail.tools.fuzz.accuracy import Accepted, Judge
from dovetail.tools.fuzz.backends import compiled, refusal, working
from dovetail.tools.fuzz.compare import ByValue, Difference, differences
from dovetail.tools.fuzz.observe import Observed, observe
from dovetail.tools.fuzz.program import Program
from dovetail.tools.fuzz.render import render
from dovetail.tools.fuzz.rounding import ROUNDING, is_rounding
from dovetail.tools.fuzz.unseen_writes import UNSEEN_WRITE, copying_saved_values, is_gradient_only
from dovetail.tools.fuzz.world import World


@dataclass(frozen=True)
class Outcome:
    """What became of one program.

    Attributes:
        status: "same", "different", "Dynamo" (its graphs, run as they are, differ too), "unseen write" (only gradients
            differ, and eager's are others once it copies what it saves: `unseen_writes`), "rounding" (values are no
            further from those in double precision than eager's: `rounding`), "refused", "eager raised" (no call came
            through, compiled or not).
        refused: the reason, where Dovetail refused a call; later calls did not run.
        graphs: how many graphs Dovetail compiled.
        checks: modules whose passes were checked by running (True), or could not be (False).
        eager: reasons why Dovetail ran parts eagerly, counted.
        specialised: reasons why it compiled graphs for the sizes of one call, counted.
        seen: what eager and compiled code show of the call that differs.
        form: the form of the program that this is about, where there are several (`Program.form`).
    """

    status: str
    found: tuple[Difference, ...] = ()
    refused: str = ""
    graphs: int = 0
    checks: Counter[bool] = field(default_factory=Counter)
    eager: Counter = field(default_factory=Counter)
    specialised: Counter = field(default_factory=Counter)
    seen: tuple[Observed, Observed] | None = None
    form: str = ""


def check_forms(programs: Iterable[Program], backend: str, iree: bool = False) -> Outcome:
    """The outcome of a program in several forms: that of the first one which is not the same, with the work of all."""
    outcomes, accepted = [], Accepted()
    for program in programs:
        outcomes.append(replace(check(program, backend, iree, accepted), form=program.form))
        if outcomes[-1].found:
            break
    worst = next((outcome for outcome in reversed(outcomes) if outcome.found), None)
    worst = worst or next((outcome for outcome in outcomes if outcome.status != "same"), outcomes[0])
    return replace(
        worst,
        graphs=sum(outcome.graphs for outcome in outcomes),
        checks=sum((outcome.checks for outcome in outcomes), Counter()),
        eager=sum((outcome.eager for outcome in outcomes), Counter()),
        specialised=sum((outcome.specialised for outcome in outcomes), Counter()),
    )


def check(program: Program, backend: str, iree: bool = False, accepted: Accepted | None = None) -> Outcome:
    """The program's outcome on `backend`, one of `backends.BACKENDS`; stops at the first call that differs.

    `accepted` holds the numbers that were judged in other forms of the program.
    """
    outcome = _check(program, backend, iree, accepted)
    seen, outcome = outcome.seen, replace(outcome, seen=None)  # which stays in its process
    if seen is None or backend == "eager-check":
        return outcome
    by_dynamo = {each.family for each in _check(program, "eager-check", False).found}
    if by_dynamo.issuperset(each.family for each in outcome.found):
        return replace(outcome, status="Dynamo", found=())
    if program.kind == "compute":
        return outcome
    # What eager shows of the program is not what it shows of itself with copies of what it saves.
    if is_gradient_only(outcome.found) and _check(program, "eager-check", False, changed=copying_saved_values).found:
        return replace(outcome, status=UNSEEN_WRITE, found=())
    if is_rounding(program, outcome.found, *seen):
        return replace(outcome, status=ROUNDING, found=())
    return outcome


def _check(
    program: Program,
    backend: str,
    iree: bool,
    accepted: Accepted | None = None,
    changed: Callable[[Callable], Callable] = lambda fn: fn,
) -> Outcome:
    """Compares with eager's run of the program's function, `changed`."""
    source = render(program)
    worlds = World(source), World(source)
    modes = [(call.mode, call.backward) for call in program.calls]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            parameters = [parameter.name for parameter in program.parameters]
            judge = Judge(source, modes, parameters, accepted or Accepted())
            by_value = judge.differences if program.kind == "compute" else None
            eager, told = changed(worlds[0].fn), (program.dynamic, program.fullgraph)
            return run(worlds, modes, parameters, backend, iree, eager, by_value, *told)
        finally:
            torch.compiler.reset()
            for world in worlds:
                world.close()


def run(
    worlds: tuple[World, World],
    modes: list[tuple[str, str]],
    parameters: list[str],
    backend: str,
    iree: bool,
    eager: Callable,
    by_value: ByValue | None = None,
    dynamic: bool | None = None,
    fullgraph: bool = False,
) -> Outcome:
    """Compares the calls with those of `eager`, in order; `modes` has each call's mode and kind of backward."""
    eager_world, compiled_world = worlds
    status, found, refused, seen = "eager raised", [], "", None
    with working(backend, iree) as work:
        fn = compiled(compiled_world.fn, backend, dynamic, fullgraph)
        for number, (mode, backward) in enumerate(modes):
            expected = observe(eager_world, eager, number, parameters, mode, backward)
            actual = observe(compiled_world, fn, number, parameters, mode, backward)
            errors = [actual.raised, *(each for (kind, _), each in actual.facts.items() if kind == "note")]
            reasons = [reason for error in errors if (reason := refusal(error))]
            if reasons:
                status, refused = "refused", reasons[0]
                break
            found = differences(number, expected, actual, by_value)
            if fullgraph:  # whether a result is a view of a value that nobody sees may hang on data: docs/limits.md
                found = [each for each in found if each.kind != "base"]
            if found:
                status, seen = "different", (expected, actual)
                break
            if expected.raised is not None:
                break
            status = "same"
    return Outcome(status, tuple(found), refused, work.graphs, work.checks, work.eager, work.specialised, seen)
