"""Compiles regions with IREE in worker processes, several at once; whatever goes wrong there stays there."""

import hashlib
import json
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace

import torch

from dovetail.backends.cache import RegionCache, cache_directory, region_key
from dovetail.backends.compiler_runs import Cause, CompilerRuns, Run
from dovetail.backends.launch_plans import LaunchPlan, assembled, lowered, read_plans, unreadable_compiler, with_tilings
from dovetail.backends.output_check import wrong_output
from dovetail.backends.target import Target
from dovetail.dialects.regions import merge_region_texts, named_region_text

# Failures of this process's lifetime, by region key and time limit: a region that crashed the compiler once isn't tried
# again. Kept in memory only, so that a time-out on a busy machine can't outlive the process.
_failures: dict[tuple[str, float], "CompileFailure"] = {}


@dataclass(frozen=True)
class CompileFailure:
    """Why a region could not be compiled.

    Attributes:
        reason: one line: "error: ...", "crash: SIGSEGV" or "time-out after 60 s".
        diagnostics: what the compiler wrote to stderr.
        reproducer: a shell command that shows the failure again, on a file that holds the region's text.
        cause: what kind of failure it was.
    """

    reason: str
    diagnostics: str
    reproducer: str
    cause: Cause = Cause.ERROR


@dataclass(frozen=True)
class CompiledRegion:
    """What runs a region through IREE's runtime.

    Attributes:
        module: for that runtime; entry: the name of the region's function there.
        why_unplanned: why there is no launch plan instead, "" where none was asked for.
        is_kept: whether the cache keeps it: not where reading the plan failed, which may go well the next time.
    """

    module: bytes
    entry: str
    why_unplanned: str = ""
    is_kept: bool = True


Outcome = LaunchPlan | CompiledRegion | CompileFailure


def compile_regions(
    sources: Mapping[str, str],
    target: Target,
    *,
    timeout: float,
    jobs: int | None = None,
    cache: RegionCache | None = None,
    plans: bool = False,
) -> dict[str, Outcome]:
    """Compiles each region's text (form: docs/iree-region-abi.md); equal texts are compiled once.

    Regions share processes, since most of a compiler run is the same for one region and for twenty; a batch that fails
    is halved until the region at fault stands alone.

    Args:
        sources: MLIR text in the torch dialect, by region name.
        target: what to compile for.
        timeout: seconds for each compiler run.
        jobs: processes at once; by default as many as PyTorch may use threads.
        cache: where to look first and store afterwards; None compiles always.
        plans: whether to read launch plans; only what has none then gets a module for IREE's runtime.

    Returns:
        For each name what runs the region, or what went wrong.

    Raises:
        StartError: if the compiler can't be started, which is no region's fault.
    """
    keys = {name: region_key(source, target, plans) for name, source in sources.items()}
    distinct = {keys[name]: source for name, source in sources.items()}
    outcomes: dict[str, Outcome] = {key: _failures[key, timeout] for key in distinct if (key, timeout) in _failures}
    if cache is not None:
        outcomes |= {key: found for key in distinct if (found := _cached(key, cache)) is not None}
    missing = {key: source for key, source in distinct.items() if key not in outcomes}
    workers = jobs or torch.get_num_threads()
    runs = CompilerRuns()
    with ThreadPoolExecutor(workers, thread_name_prefix="dovetail-compile") as pool:
        batches = _batches(missing, workers)
        compiling = [pool.submit(_compile_batch, batch, target, timeout, plans, runs) for batch in batches]
        try:
            for compiled in as_completed(compiling):
                outcomes |= compiled.result()
        except BaseException:  # the user's Ctrl-C, or a compiler that does not start
            runs.stop()
            raise
    for key in missing:
        _remember(key, outcomes[key], timeout, cache)
    return {name: outcomes[key] for name, key in keys.items()}


def _cached(key: str, cache: RegionCache) -> Outcome | None:
    """An entry names the function, and the module or the code that it is in, which many regions share."""
    entry = cache.read(key)
    if entry is None:
        return None
    facts = json.loads(entry)
    shared = cache.read(facts["shared"])
    if shared is None:
        return None
    cache.count_hit(key)
    if "plan" in facts:
        return LaunchPlan(facts["plan"], shared)
    return CompiledRegion(shared, facts["entry"], facts["why_unplanned"])


def _remember(key: str, outcome: Outcome, timeout: float, cache: RegionCache | None) -> None:
    if isinstance(outcome, CompileFailure):
        _failures[key, timeout] = outcome
        return
    if cache is None or not outcome.is_kept:
        return
    if isinstance(outcome, LaunchPlan):
        facts = {"shared": _stored(outcome.code, cache), "plan": outcome.steps}
    else:
        shared = _stored(outcome.module, cache)
        facts = {"shared": shared, "entry": outcome.entry, "why_unplanned": outcome.why_unplanned}
    cache.store(key, json.dumps(facts).encode())


def _stored(shared: bytes, cache: RegionCache) -> str:
    """The key under which `cache` now holds `shared`."""
    key = hashlib.sha256(shared).hexdigest()
    if cache.read(key) is None:
        cache.store(key, shared)
    return key


def _batches(sources: dict[str, str], count: int) -> list[dict[str, str]]:
    """At most `count` batches of about equal length, the longest text first into the shortest batch."""
    batches: list[dict[str, str]] = [{} for _ in range(min(count, len(sources)))]
    for key, source in sorted(sources.items(), key=lambda item: len(item[1]), reverse=True):
        min(batches, key=lambda batch: sum(map(len, batch.values())))[key] = source
    return batches


def _compile_batch(
    batch: dict[str, str], target: Target, timeout: float, plans: bool, runs: CompilerRuns
) -> dict[str, Outcome]:
    # Named by their contents, so that no other region can be taken for one of them.
    entries = {key: f"region_{key[:16]}" for key in batch}
    texts = [named_region_text(source, entries[key]) for key, source in batch.items()]
    source = target.prepared(texts[0] if len(texts) == 1 else merge_region_texts(texts))
    compiled = _compiled(source, list(entries.values()), target, timeout, plans, runs)
    if not isinstance(compiled, Run):
        failed = {key: each for key, entry in entries.items() if isinstance(each := compiled[entry], Run)}
        found: dict[str, Outcome] = {
            key: each for key, entry in entries.items() if not isinstance(each := compiled[entry], Run)
        }
        for key, run in failed.items():
            found |= _compile_plainer(key, batch[key], source, target, run, timeout, plans, runs)
        return found
    if len(batch) == 1:
        (key,) = batch
        return _compile_plainer(key, batch[key], source, target, compiled, timeout, plans, runs)
    # A batch gets no more time than one region, and is taken apart at once if that was not enough: one that hangs must
    # not cost its time-out again for each halving.
    keys = list(batch)
    step = 1 if compiled.cause is Cause.TIME_OUT else (len(keys) + 1) // 2
    parts = ({key: batch[key] for key in keys[start : start + step]} for start in range(0, len(keys), step))
    return {key: each for part in parts for key, each in _compile_batch(part, target, timeout, plans, runs).items()}


def _compile_plainer(
    key: str, region: str, source: str, target: Target, run: Run, timeout: float, plans: bool, runs: CompilerRuns
) -> dict[str, Outcome]:
    """What becomes of a region after `run` of its `source` failed: the target may know a plainer way."""
    assert run.failure is not None
    plainer = target.plainer(run.failure)
    if plainer is None:
        return {key: _failed(key, source, target, run)}
    return _compile_batch({key: region}, plainer, timeout, plans, runs)


def _compiled(
    source: str, entries: Sequence[str], target: Target, timeout: float, plans: bool, runs: CompilerRuns
) -> dict[str, LaunchPlan | CompiledRegion | Run] | Run:
    """What runs each of `entries`, functions of `source`; or the run that failed, for all or for one."""
    why_not = unreadable_compiler() if plans else ""
    if not plans or why_not:
        unplanned = dict.fromkeys(entries, why_not)
        return _modules(lambda: runs.run(target.compile_flags(), source, timeout), target, unplanned)
    at_hal = lowered(source, target, timeout, runs)
    host = at_hal.run
    if host.failure:
        return host

    def go_on() -> Run:
        return _continued(host.output.decode(errors="replace"), target, timeout, runs)

    try:
        found = read_plans(host.output, entries, timeout)
    except OSError as error:
        return _modules(go_on, target, dict.fromkeys(entries, f"reading the plan failed: {error}"), is_kept=False)
    planned = assembled(
        {name: plan for name, plan in found.items() if isinstance(plan, LaunchPlan)}, target, timeout, runs
    )
    if isinstance(planned, Run):
        return planned
    in_time = not target.why_plain.startswith(Cause.TIME_OUT.value)
    planned |= {
        entry: replace(with_tilings(plan, at_hal.tilings, f"IREE's tiles: {target.why_plain}"), is_kept=in_time)
        for entry, plan in planned.items()
        if isinstance(plan, LaunchPlan)
    }
    reasons = {entry: reason for entry, reason in found.items() if isinstance(reason, str)}
    if not reasons:
        return {**planned}
    others = _modules(go_on, target, reasons)
    return others if isinstance(others, Run) else {**planned, **others}


def _continued(text: str, target: Target, timeout: float, runs: CompilerRuns) -> Run:
    """The run that makes a module for IREE's runtime of `text`, at phase `hal`."""
    return runs.run((*target.compile_flags(), "--compile-from=hal"), text, timeout)


def _modules(
    compile_: Callable[[], Run], target: Target, reasons: Mapping[str, str], is_kept: bool = True
) -> dict[str, LaunchPlan | CompiledRegion | Run] | Run:
    """What `compile_` makes for IREE's runtime, by entry, with why it has no plan; the run where it failed.

    Where IREE's runtime has no driver for `target`, what has no plan has failed.
    """
    if not target.drivers:
        return {entry: Run(b"", reason, f"error: no plan: {reason}", Cause.ERROR) for entry, reason in reasons.items()}
    run = compile_()
    failure = run.failure or wrong_output(run.output, list(reasons))
    if failure:
        return replace(run, failure=failure, cause=run.cause or Cause.ERROR)
    return {entry: CompiledRegion(run.output, entry, reason, is_kept) for entry, reason in reasons.items()}


def _failed(key: str, source: str, target: Target, run: Run) -> CompileFailure:
    assert run.failure is not None
    assert run.cause is not None
    path = cache_directory() / "failures" / f"{key[:16]}.mlir"
    command = shlex.join(["iree-compile", str(path), *target.compile_flags(), "-o", os.devnull])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    except OSError as error:
        command += f"  # the region's text could not be written: {error}"
    return CompileFailure(run.failure, run.diagnostics, command, run.cause)
