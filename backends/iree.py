"""Compiles regions with IREE in worker processes, several at once; whatever goes wrong there stays there."""

import hashlib
import json
import os
import shlex
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from dovetail.backends.cache import RegionCache, cache_directory, region_key
from dovetail.backends.compiler_runs import TIMED_OUT, CompilerRuns, Run
from dovetail.backends.launch_plans import LaunchPlan, read_plans, unreadable_compiler
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
    """

    reason: str
    diagnostics: str
    reproducer: str


@dataclass(frozen=True)
class CompiledRegion:
    """What runs a region.

    Attributes:
        module: for IREE's runtime; entry: the name of the function in it that is the region.
        plan: how it runs without that runtime, None where there is no plan; why_unplanned: the reason then.
    """

    module: bytes
    entry: str
    plan: LaunchPlan | None = None
    why_unplanned: str = ""


Outcome = CompiledRegion | CompileFailure


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
        jobs: processes at once; by default the cores that this process may use.
        cache: where to look first and store afterwards; None compiles always.
        plans: whether to read launch plans, too.

    Returns:
        For each name the loadable region, or what went wrong.

    Raises:
        StartError: if the compiler can't be started, which is no region's fault.
    """
    keys = {name: region_key(source, target, plans) for name, source in sources.items()}
    distinct = {keys[name]: source for name, source in sources.items()}
    outcomes: dict[str, Outcome] = {key: _failures[key, timeout] for key in distinct if (key, timeout) in _failures}
    if cache is not None:
        outcomes |= {key: found for key in distinct if (found := _cached(key, cache)) is not None}
    missing = {key: source for key, source in distinct.items() if key not in outcomes}
    workers = jobs or _cores()
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


def _cores() -> int:
    """Those that this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _cached(key: str, cache: RegionCache) -> CompiledRegion | None:
    """An entry names the function, and the module and the code that it is in, which many regions share."""
    entry = cache.read(key)
    if entry is None:
        return None
    facts = json.loads(entry)
    module = cache.read(facts["module"])
    code = cache.read(facts["code"]) if facts["code"] else None
    if module is None or (facts["code"] and code is None):
        return None
    cache.count_hit(key)
    plan = None if code is None else LaunchPlan(facts["plan"], code)
    return CompiledRegion(module, facts["entry"], plan, facts["why_unplanned"])


def _remember(key: str, outcome: Outcome, timeout: float, cache: RegionCache | None) -> None:
    if isinstance(outcome, CompileFailure):
        _failures[key, timeout] = outcome
    elif cache is not None:
        facts = {
            "entry": outcome.entry,
            "module": _stored(outcome.module, cache),
            "plan": None if outcome.plan is None else outcome.plan.steps,
            "code": None if outcome.plan is None else _stored(outcome.plan.code, cache),
            "why_unplanned": outcome.why_unplanned,
        }
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
    source = texts[0] if len(texts) == 1 else merge_region_texts(texts)
    why_not = unreadable_compiler() if plans else ""
    host = None
    if plans and not why_not:
        host = runs.run((*target.compile_flags(), "--compile-to=hal"), source, timeout)
    run = _whole(source, host, target, timeout, runs)
    failure = run.failure or wrong_output(run.output, list(entries.values()))
    if failure is None:
        found = {} if host is None else read_plans(host.output, list(entries.values()), timeout)
        return {key: _region(run.output, entry, found.get(entry, why_not)) for key, entry in entries.items()}
    if len(batch) == 1:
        (key,) = batch
        return {key: _failed(failure, key, source, target, run.diagnostics)}
    # A batch gets no more time than one region, and is taken apart at once if that was not enough: one that hangs must
    # not cost its time-out again for each halving.
    keys = list(batch)
    step = 1 if failure.startswith(TIMED_OUT) else (len(keys) + 1) // 2
    parts = ({key: batch[key] for key in keys[start : start + step]} for start in range(0, len(keys), step))
    return {key: each for part in parts for key, each in _compile_batch(part, target, timeout, plans, runs).items()}


def _whole(source: str, host: Run | None, target: Target, timeout: float, runs: CompilerRuns) -> Run:
    """The run that makes the module for IREE's runtime: of `source`, or of what is left to do after `host`."""
    if host is None:
        return runs.run(target.compile_flags(), source, timeout)
    if host.failure is not None:
        return host
    text = host.output.decode(errors="replace")
    return runs.run((*target.compile_flags(), "--compile-from=hal"), text, timeout)


def _region(module: bytes, entry: str, plan: LaunchPlan | str) -> CompiledRegion:
    if isinstance(plan, str):
        return CompiledRegion(module, entry, None, plan)
    return CompiledRegion(module, entry, plan)


def _failed(reason: str, key: str, source: str, target: Target, diagnostics: str) -> CompileFailure:
    path = cache_directory() / "failures" / f"{key[:16]}.mlir"
    command = shlex.join(["iree-compile", str(path), *target.compile_flags(), "-o", os.devnull])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    except OSError as error:
        command += f"  # the region's text could not be written: {error}"
    return CompileFailure(reason, diagnostics, command)
