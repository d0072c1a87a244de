"""What IREE's host program of a region does, as a record: read by a worker process, kept in the cache."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from dovetail.backends import iree_worker
from dovetail.backends.compiler_runs import Cause, CompilerRuns, Run
from dovetail.backends.flags import COMPILER_PACKAGE
from dovetail.backends.target import Target

COMPILERS = ("3.13.0",)
"""Versions of IREE whose host programs `worker/host_program.py` was written for and tested with."""


@dataclass(frozen=True)
class LaunchPlan:
    """How a region is run without IREE's runtime.

    Attributes:
        steps: what `worker/host_program.py` found, in the form that docs/launch-plans.md describes.
        code: the executable, which many regions share: an ELF shared object; of a GPU a cubin, or PTX for the driver.
    """

    steps: dict[str, Any]
    code: bytes


def unreadable_compiler() -> str:
    """Why this compiler's host programs are not read; "" if they are."""
    found = version(COMPILER_PACKAGE)
    return "" if found in COMPILERS else f"plans are read from IREE {', '.join(COMPILERS)}, this is {found}"


def read_plans(text: bytes, entries: Sequence[str], timeout: float) -> dict[str, LaunchPlan | str]:
    """The plan of each function of `text`, a module at IREE's phase `hal`, or why it has none.

    Raises:
        OSError: if the process that reads can't be started or ends, which says nothing of the functions.
    """
    found, rest = iree_worker.worker.ask({"task": "plans", "names": list(entries)}, text, timeout)
    codes: dict[str, bytes] = {}
    for name, size in found["codes"].items():
        codes[name], rest = rest[:size], rest[size:]
    return {
        name: plan["unreadable"] if "unreadable" in plan else LaunchPlan(plan, codes[plan.pop("executable")])
        for name, plan in found["plans"].items()
    }


def lowered(source: str, target: Target, timeout: float, runs: CompilerRuns) -> Run:
    """The run that made the text of phase `hal`: what `target` edits is edited between IREE's own phases."""
    flags, text = target.compile_flags(), source
    since: tuple[str, ...] = ()
    for phase, edit in target.edits:
        run = runs.run((*flags, *since, f"--compile-to={phase}"), text, timeout)
        if run.failure:
            return run
        try:
            _, edited = iree_worker.worker.ask({"task": edit}, run.output, timeout)
        except OSError as error:
            return replace(run, failure=f"error: {edit} failed at {phase}: {error}", cause=Cause.ERROR)
        text, since = edited.decode(), (f"--compile-from={phase}",)
    return runs.run((*flags, *since, "--compile-to=hal"), text, timeout)


def assembled(
    plans: Mapping[str, LaunchPlan], target: Target, timeout: float, runs: CompilerRuns
) -> dict[str, LaunchPlan | Run] | Run:
    """`plans` with the code that the device runs, made once for all of the same code; a run for what must not run."""
    distinct = {plan.code for plan in plans.values()}
    codes = {code: target.assembled(code, timeout, runs) for code in distinct}
    found: dict[str, LaunchPlan | Run] = {}
    for name, plan in plans.items():
        code = codes[plan.code]
        if isinstance(code, Run):
            return code
        refused = [code.refused[step["entry"]] for step in plan.steps["steps"] if step.get("entry") in code.refused]
        found[name] = (
            Run(b"", refused[0], f"error: {refused[0]}", Cause.ERROR) if refused else replace(plan, code=code.code)
        )
    return found
