"""What IREE's host program of a region does, as a record: read by a worker process, kept in the cache."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

from dovetail.backends.base_target import COMPILER_PACKAGE, Target
from dovetail.backends.compiling import iree_worker
from dovetail.backends.compiling.compiler_runs import Cause, CompilerRuns, Run, refused
from dovetail.backends.compiling.constant_terms import may_have_constant_terms
from dovetail.backends.compiling.read_results import may_read_results
from dovetail.backends.compiling.scheduling import (
    FLAGS_OF_PASSES,
    FLAGS_TO_FLOW,
    FLAGS_TO_HAL,
    PIPELINE_TO_COMMANDS,
    PIPELINE_TO_STREAM,
    pipelines,
)
from dovetail.dialects.memory.touches import Touch

_MAY_MATTER: Mapping[str, Callable[[str], bool]] = {
    "check terms": may_have_constant_terms,
    "read results": may_read_results,
    "order commands": lambda text: "stream.cmd.concurrent" in text,
}
"""Whether a task has anything to do in a text, which costs less to find than to read the text as a module."""

COMPILERS = ("3.13.0",)
"""Versions of IREE whose host programs `backends/worker/host_program.py` was written for and tested with."""


@dataclass(frozen=True)
class LaunchPlan:
    """How a region is run without IREE's runtime.

    Attributes:
        steps: what `backends/worker/host_program.py` found, in the form that docs/launch-plans.md describes.
        code: the executable, which many regions share: an ELF shared object; of a GPU a cubin, or PTX for the driver.
            Empty for what only fills and copies memory.
        is_kept: whether the cache keeps it: not where a better one took too long, which may go well the next time.
    """

    steps: dict[str, Any]
    code: bytes
    is_kept: bool = True

    def touching(self, argument: int) -> list[Touch]:
        """The steps that bind, fill or copy memory of an argument, by number."""
        found = []
        for number, step in enumerate(self.steps["steps"]):
            ranges = [*step.get("bindings", ()), *(step[key] for key in ("source", "target") if key in step)]
            found += [(number, step["op"] == "dispatch")] if any(buffer == argument for buffer, *_ in ranges) else []
        return found


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
        name: plan["unreadable"] if "unreadable" in plan else LaunchPlan(plan, codes.get(plan.pop("executable"), b""))
        for name, plan in found["plans"].items()
    }


def to_flow(source: str, target: Target, timeout: float, runs: CompilerRuns) -> Run:
    """Takes `source` to phase `flow`, with what `target` edits on the way.

    Returns:
        The run that made it, with its text as edited, or the first one that failed.
    """
    run = Run(source.encode(), "")
    since: tuple[str, ...] = ()
    for phase in ("global-optimization", "flow"):
        own = (target.edits[phase],) if phase in target.edits else ()
        if phase != "flow" and not own:
            continue
        flags = (*target.compile_flags(), *since, *FLAGS_TO_FLOW, f"--compile-to={phase}")
        run, since = runs.run(flags, run.text, timeout), (f"--compile-from={phase}",)
        for task in ("check terms", *own) if phase == "flow" else own:
            if not run.failure and (task not in _MAY_MATTER or _MAY_MATTER[task](run.text)):
                run, _ = _edited(task, run, target, timeout)
        if run.failure:
            return run
    return run


def to_commands(flow: Run, target: Target, timeout: float, runs: CompilerRuns) -> Run:
    """Takes the text of `flow` to commands; those that touch the same memory wait for one another.

    Returns:
        The run that made it, with its text as edited, or the one that failed.
    """
    run = runs.run_passes((*FLAGS_OF_PASSES, f"--pass-pipeline={PIPELINE_TO_COMMANDS}"), flow.text, timeout)
    if not run.failure and _MAY_MATTER["order commands"](run.text):
        run, _ = _edited("order commands", run, target, timeout)
    return run


def to_hal(commands: Run, target: Target, timeout: float, runs: CompilerRuns) -> tuple[Run, dict[str, str]]:
    """Takes the text of `commands` to phase `hal`, as far as plans need it, with what `target` edits on the way.

    Returns:
        The run that made it, or the first one that failed; and of kernels for GPUs, by name, the form of ours that they
        are tiled in, or why they keep IREE's tiles.
    """
    run, tilings = commands, dict[str, str]()
    for phase, pipeline in pipelines(target.name, target.edits):
        flags = (*target.code_flags(), *FLAGS_TO_HAL, *FLAGS_OF_PASSES, f"--pass-pipeline={pipeline}")
        run = runs.run_passes(flags, run.text, timeout)
        if not run.failure and phase in target.edits:
            run, tiled = _edited(target.edits[phase], run, target, timeout)
            tilings |= tiled
        if run.failure:
            return run, {}
    return run, tilings


def to_module(commands: Run, target: Target, timeout: float, runs: CompilerRuns) -> Run:
    """Makes a module for IREE's runtime of the text of `commands`.

    Returns:
        The run that made it, or the one that failed.
    """
    run = runs.run_passes((*FLAGS_OF_PASSES, f"--pass-pipeline={PIPELINE_TO_STREAM}"), commands.text, timeout)
    if run.failure:
        return run
    return runs.run((*target.compile_flags(), *FLAGS_TO_HAL, "--compile-from=stream"), run.text, timeout)


def _edited(task: str, run: Run, target: Target, timeout: float) -> tuple[Run, dict[str, str]]:
    """What a worker makes of what `run` made, and what it says of kernels; the failure if it can't."""
    try:
        said, text = iree_worker.worker.ask({"task": task, "plain": target.plain_kernels}, run.output, timeout)
    except OSError as error:
        return replace(run, failure=f"error: '{task}' failed: {error}", cause=Cause.ERROR), {}
    return replace(run, output=text), said


def with_tilings(plan: LaunchPlan, tilings: Mapping[str, str], otherwise: str) -> LaunchPlan:
    """`plan` whose launches on a GPU say how their kernels are tiled: as `tilings` say by name, or `otherwise`."""
    steps = [
        step | {"tiling": tilings.get(step["entry"], otherwise)} if "workgroup_size" in step else step
        for step in plan.steps["steps"]
    ]
    return replace(plan, steps=plan.steps | {"steps": steps})


FORMS = ("pointwise", "rows", "turned")
"""The forms in which kernels of open sizes may run: those that were compared on a GPU."""


def untiled(plan: LaunchPlan) -> str:
    """Why a kernel of open sizes must not run on a GPU, "" if all may: IREE's own tiles of such nobody has compared."""
    for step in plan.steps["steps"]:
        tiling = step.get("tiling", "")
        if tiling and tiling not in FORMS and any(isinstance(constant, str) for constant in step["constants"]):
            return f"of open sizes, {tiling}"
    return ""


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
        launched = {step["entry"] for step in plan.steps["steps"] if "entry" in step}
        kernels = {entry: why for entry, why in code.refused.items() if entry in launched}
        made = _with_code(plan, code.code, code.waits)
        found[name] = refused(next(iter(kernels.values())), kernels) if kernels else made
    return found


def _with_code(plan: LaunchPlan, code: bytes, waits: Container[str]) -> LaunchPlan:
    """`plan` with the code that the device runs, of which the kernels `waits` wait for what comes before."""
    steps = [step | {"waits": True} if step.get("entry") in waits else step for step in plan.steps["steps"]]
    return replace(plan, code=code, steps=plan.steps | {"steps": steps})
