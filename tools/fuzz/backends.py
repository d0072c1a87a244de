"""What a program is compiled with, and what that says of its own work."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from unittest.mock import patch
from warnings import catch_warnings, simplefilter

import torch

import dovetail
from dovetail.backends.compiling.iree import Compilation
from dovetail.errors import DefectWarning, UnsupportedError
from dovetail.runtime.autograd.version_checks import REREAD
from dovetail.tools.fuzz.checked_passes import checked_runner

# "eager-check" runs Dynamo's graphs as they are: what differs there, Dynamo does. "run-check" is Dovetail, each pass of
# which is run before and after.
BACKENDS: dict[str, str | Callable] = {
    "dovetail": "dovetail",
    "run-check": "dovetail",
    "inductor": "inductor",
    "aot_eager": "aot_eager",
    "eager-check": "eager",
}


@dataclass
class Work:
    """What Dovetail did for one program.

    Attributes:
        graphs: how many graphs it compiled.
        checks: modules whose passes were checked by running (True), or could not be (False).
        eager: reasons for what it left to eager.
        specialised: reasons for graphs that it compiled for the sizes of one call, though Dynamo left them open.
    """

    graphs: int = 0
    checks: Counter[bool] = field(default_factory=Counter)
    eager: Counter = field(default_factory=Counter)
    specialised: Counter = field(default_factory=Counter)


def compiled(fn: Callable, backend: str, dynamic: bool | None = None, fullgraph: bool = False) -> Callable:
    """`torch.compile` of `fn`, as a user calls it."""
    return torch.compile(fn, backend=BACKENDS[backend], dynamic=dynamic, fullgraph=fullgraph)


@contextmanager
def working(backend: str, iree: bool) -> Iterator[Work]:
    """Runs one program; without `iree`, regions run op by op through ATen. Yields what is filled in at the end."""
    work = Work()
    if backend == "inductor":
        from torch._inductor import config

        with config.patch(fallback_random=True):  # else it draws its own numbers, by design
            yield work
        return
    if BACKENDS[backend] != "dovetail":
        yield work
        return
    dovetail.stats(reset=True)
    with ExitStack() as patches:
        # A defect of the compiler's own takes the eager path for the user; here it is a difference.
        patches.enter_context(catch_warnings())
        simplefilter("error", DefectWarning)
        # One compiler for all regions of a graph: its start is half of its time, and other programs have the cores.
        patches.enter_context(patch("dovetail.loading.Compilation", partial(Compilation, jobs=1)))
        if not iree:
            patches.enter_context(patch("dovetail.compiler.begun", lambda *_: nullcontext()))
            patches.enter_context(patch("dovetail.compiler.build", lambda *_: {}))
        if backend == "run-check":
            runner = checked_runner(lambda is_checked: work.checks.update([is_checked]))
            patches.enter_context(patch("dovetail.compiler.Runner", runner))
        yield work
    stats = dovetail.stats()
    work.graphs = stats.graphs
    work.eager = Counter(getattr(stats, "eager", {}))
    work.specialised = Counter(stats.specialised)


_ONCE = "the gradient of a compiled function can't be differentiated again: "


def refusal(error: BaseException | None) -> str | None:
    """The reason, if Dovetail said that it can't honour the program; Dynamo wraps what a backend raises."""
    while error is not None:
        if isinstance(error, UnsupportedError):
            return str(error)
        if isinstance(error, RuntimeError) and any(each in str(error) for each in (_ONCE, REREAD)):
            return str(error)
        error = getattr(error, "inner_exception", None) or error.__cause__
    return None
