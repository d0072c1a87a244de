"""Compiles regions with IREE in worker processes, several at once; whatever goes wrong there stays there."""

import hashlib
import os
import shlex
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass

from dovetail.backends.cache import RegionCache, cache_directory, region_key
from dovetail.backends.compiler_runs import TIMED_OUT, CompilerRuns
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
    """A loadable module, and the name of the function in it that is the region."""

    module: bytes
    entry: str


Outcome = CompiledRegion | CompileFailure


def compile_regions(
    sources: Mapping[str, str],
    target: Target,
    *,
    timeout: float,
    jobs: int | None = None,
    cache: RegionCache | None = None,
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

    Returns:
        For each name the loadable region, or what went wrong.

    Raises:
        StartError: if the compiler can't be started, which is no region's fault.
    """
    keys = {name: region_key(source, target) for name, source in sources.items()}
    distinct = {keys[name]: source for name, source in sources.items()}
    outcomes: dict[str, Outcome] = {key: _failures[key, timeout] for key in distinct if (key, timeout) in _failures}
    if cache is not None:
        outcomes |= {key: found for key in distinct if (found := _cached(key, cache)) is not None}
    missing = {key: source for key, source in distinct.items() if key not in outcomes}
    workers = jobs or _cores()
    runs = CompilerRuns()
    with ThreadPoolExecutor(workers, thread_name_prefix="dovetail-compile") as pool:
        batches = _batches(missing, workers)
        compiling = [pool.submit(_compile_batch, batch, target, timeout, runs) for batch in batches]
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
    """An entry names the function and the module that it is in, which many regions share."""
    function, _, module_key = (cache.read(key) or b"").decode().partition(" ")
    module = cache.read(module_key) if module_key else None
    if module is None:
        return None
    cache.count_hit(key)
    return CompiledRegion(module, function)


def _remember(key: str, outcome: Outcome, timeout: float, cache: RegionCache | None) -> None:
    if isinstance(outcome, CompileFailure):
        _failures[key, timeout] = outcome
    elif cache is not None:
        module_key = hashlib.sha256(outcome.module).hexdigest()
        if cache.read(module_key) is None:
            cache.store(module_key, outcome.module)
        cache.store(key, f"{outcome.entry} {module_key}".encode())


def _batches(sources: dict[str, str], count: int) -> list[dict[str, str]]:
    """At most `count` batches of about equal length, the longest text first into the shortest batch."""
    batches: list[dict[str, str]] = [{} for _ in range(min(count, len(sources)))]
    for key, source in sorted(sources.items(), key=lambda item: len(item[1]), reverse=True):
        min(batches, key=lambda batch: sum(map(len, batch.values())))[key] = source
    return batches


def _compile_batch(batch: dict[str, str], target: Target, timeout: float, runs: CompilerRuns) -> dict[str, Outcome]:
    # Named by their contents, so that no other region can be taken for one of them.
    entries = {key: f"region_{key[:16]}" for key in batch}
    texts = [named_region_text(source, entries[key]) for key, source in batch.items()]
    source = texts[0] if len(texts) == 1 else merge_region_texts(texts)
    run = runs.run(target.compile_flags(), source, timeout)
    failure = run.failure or wrong_output(run.output, list(entries.values()))
    if failure is None:
        return {key: CompiledRegion(run.output, entry) for key, entry in entries.items()}
    if len(batch) == 1:
        (key,) = batch
        return {key: _failed(failure, key, source, target, run.diagnostics)}
    # A batch gets no more time than one region, and is taken apart at once if that was not enough: one that hangs must
    # not cost its time-out again for each halving.
    keys = list(batch)
    step = 1 if failure.startswith(TIMED_OUT) else (len(keys) + 1) // 2
    parts = ({key: batch[key] for key in keys[start : start + step]} for start in range(0, len(keys), step))
    return {key: each for part in parts for key, each in _compile_batch(part, target, timeout, runs).items()}


def _failed(reason: str, key: str, source: str, target: Target, diagnostics: str) -> CompileFailure:
    path = cache_directory() / "failures" / f"{key[:16]}.mlir"
    command = shlex.join(["iree-compile", str(path), *target.compile_flags(), "-o", os.devnull])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    except OSError as error:
        command += f"  # the region's text could not be written: {error}"
    return CompileFailure(reason, diagnostics, command)
