"""What becomes of one sample: right, wrong, run eagerly, without a graph, or refused by eager itself."""

import logging
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial

import torch

from dovetail.dialects.torch_facts.ops import row_of_name
from dovetail.dialects.torch_facts.row import Kernel
from dovetail.runtime.stats import stats
from dovetail.tools.fuzz.stochastic import RandomRounding
from dovetail.tools.op_db.cases import Case, Program, nudged, program, widened
from dovetail.tools.op_db.judge import Bounds, difference
from dovetail.tools.op_db.run import Seen, run

RIGHT, WRONG, EAGER, NO_GRAPH, NO_SAMPLE, NOT_REPEATABLE, NOT_RUN = (
    "right",
    "wrong",
    "run eagerly",
    "not traced by Dynamo",
    "no sample",
    "not the same twice in eager",
    "not run yet",
)

_NUDGES = 8  # what one shows may cancel by luck

# What eager says of a sample that it doesn't take; the last one where an op is for another device.
_REFUSALS = (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError, AssertionError)


@dataclass(frozen=True)
class Outcome:
    """`kind` is a name above; `why` says what differs, why eager ran or sizes are fixed, or what eager says."""

    kind: str
    why: str = ""


def check(case: Case) -> Outcome:
    """Runs the sample eagerly, in a wider precision, and compiled; a sample that eager refuses is no sample."""
    warnings.simplefilter("ignore")
    logging.disable(logging.ERROR)  # Dynamo's, about graph breaks
    torch.set_num_threads(1)
    try:
        given = program(case)
        if given is None:
            return Outcome(NO_SAMPLE)
        eager = run(given, given.function)
        again = run(given, given.function)
    except _REFUSALS as error:
        return Outcome(NO_SAMPLE, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
    has_values = row_of_name(f"aten.{case.op}").kernel is not Kernel.UNWRITTEN
    if has_values and difference(eager, again, Bounds()):
        return Outcome(NOT_REPEATABLE)
    return _compiled(case, given, eager, has_values)


def _compiled(case: Case, given: Program, eager: Seen, has_values: bool) -> Outcome:
    torch._dynamo.reset()
    stats(reset=True)
    try:
        compiled = run(given, torch.compile(given.function, backend="dovetail", dynamic=case.dynamic))
    except Exception as error:  # whatever a user would meet is a finding, but what every backend's users meet
        said = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        return Outcome(NO_GRAPH if _is_dynamos(error, case, given) else WRONG, said)
    counted = stats()
    found = difference(eager, compiled, Bounds(), has_values)
    if found and has_values:
        found = difference(eager, compiled, _bounds(case))
    if found:
        return Outcome(WRONG, found)
    if counted.eager:
        return Outcome(EAGER, next(iter(counted.eager)))
    return Outcome(RIGHT if counted.graphs else NO_GRAPH, next(iter(counted.specialised), ""))


def _is_dynamos(error: Exception, case: Case, given: Program) -> bool:
    """Whether the same is raised where Dynamo's graph runs as it is."""
    torch._dynamo.reset()
    try:
        run(given, torch.compile(given.function, backend="eager", dynamic=case.dynamic))
    except Exception as other:
        return str(other) == str(error)
    return False


def _bounds(case: Case) -> Bounds:
    moved = (_seen(partial(nudged, case, seed), RandomRounding(seed, double=True)) for seed in range(_NUDGES))
    return Bounds(_seen(partial(widened, case), nullcontext()), tuple(each for each in moved if each is not None))


def _seen(variant: Callable[[], Program | None], mode: AbstractContextManager) -> Seen | None:
    """What eager gives in `mode` for a variant of the sample; None where that can't be asked."""
    try:
        other = variant()
        if other is None:
            return None
        with mode:
            return run(other, other.function)
    except _REFUSALS:
        return None
