"""Makes one observation in this process."""

import json
from collections.abc import Callable

import torch

import dovetail
from dovetail.errors import UnsupportedError
from dovetail.tools.wrongs.case import Observation
from dovetail.tools.wrongs.outcome import NO_CXX_COMPILER, Observed


def observe(function: Callable, observation: Observation, backend: str) -> Observed:
    """Makes `observation` of `function`, compiled with `backend` unless that is "eager"."""
    torch._dynamo.reset()
    called = function if backend == "eager" else torch.compile(function, backend=backend)
    before = _run_eagerly()
    try:
        facts = observation(called)
    except Exception as error:  # whatever a backend raises is what the table reports
        return Observed(failure=_failure(error))
    # Through JSON and back, as facts are when they are stored.
    return Observed(json.loads(json.dumps(facts)), eagerly=_run_eagerly() > before)


def _run_eagerly() -> int:
    """How many graphs Dovetail did not compile, but ran eagerly with a warning."""
    return dovetail.stats().eager.total()


def _failure(error: Exception) -> str:
    """Dynamo wraps what a backend raises while it compiles."""
    raised = getattr(error, "inner_exception", error)
    name = type(raised).__name__
    if name == NO_CXX_COMPILER:
        return "not measured: there is no C++ compiler"
    return "refused" if isinstance(raised, UnsupportedError) else f"raises {name}"
