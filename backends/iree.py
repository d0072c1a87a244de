"""Compiles regions with IREE in worker processes, several at once; whatever goes wrong there stays there."""

import functools
import hashlib
import importlib.util
import os
import resource
import shlex
import signal
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from dovetail.backends.cache import RegionCache, cache_directory, region_key
from dovetail.backends.target import Target
from dovetail.dialects.regions import merge_region_texts

# Failures of this process's lifetime, by region key and time limit: a region that crashed the compiler once isn't tried
# again. Kept in memory only, so that a time-out on a busy machine can't outlive the process.
_failures: dict[tuple[str, float], "CompileFailure"] = {}


TIMED_OUT = "time-out"


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
        For each name the loadable region, or what went wrong. Regions never raise.
    """
    keys = {name: region_key(source, target) for name, source in sources.items()}
    distinct = {keys[name]: source for name, source in sources.items()}
    outcomes: dict[str, Outcome] = {key: _failures[key, timeout] for key in distinct if (key, timeout) in _failures}
    if cache is not None:
        outcomes |= {key: found for key in distinct if (found := _cached(key, cache)) is not None}
    missing = {key: source for key, source in distinct.items() if key not in outcomes}
    workers = jobs or len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(workers, thread_name_prefix="dovetail-compile") as pool:
        for compiled in pool.map(lambda batch: _compile_batch(batch, target, timeout), _batches(missing, workers)):
            outcomes |= compiled
    for key in missing:
        _remember(key, outcomes[key], timeout, cache)
    return {name: outcomes[key] for name, key in keys.items()}


def _cached(key: str, cache: RegionCache) -> CompiledRegion | None:
    """An entry names the function and the module that it is in, which many regions share."""
    entry = cache.load(key)
    if entry is None:
        return None
    function, _, module_key = entry.decode().partition(" ")
    module = cache.read(module_key)
    return None if module is None else CompiledRegion(module, function)


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


def _compile_batch(batch: dict[str, str], target: Target, timeout: float) -> dict[str, Outcome]:
    keys = list(batch)
    if len(keys) == 1:
        outcome = _compile(keys[0], batch[keys[0]], target, timeout)
        return {keys[0]: outcome if isinstance(outcome, CompileFailure) else CompiledRegion(outcome, "main")}
    merged, entries = merge_region_texts(list(batch.values()))
    # A batch gets no more time than one region, and is taken apart at once if that was not enough: one that hangs must
    # not cost its time-out again for each halving.
    outcome = _compile(region_key(merged, target), merged, target, timeout)
    if isinstance(outcome, bytes):
        return {key: CompiledRegion(outcome, entry) for key, entry in zip(keys, entries, strict=True)}
    step = 1 if outcome.reason.startswith(TIMED_OUT) else (len(keys) + 1) // 2
    parts = ({key: batch[key] for key in keys[start : start + step]} for start in range(0, len(keys), step))
    return {key: each for part in parts for key, each in _compile_batch(part, target, timeout).items()}


def _compile(key: str, source: str, target: Target, timeout: float) -> bytes | CompileFailure:
    command = [str(compiler_executable()), "-", *target.compile_flags()]
    # A session of its own, so that a time-out also ends the linker that the compiler started.
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        _bound_cpu_time(process.pid, timeout)
        try:
            compiled, stderr = process.communicate(source.encode(), timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, stderr = process.communicate()
            return _failure(f"{TIMED_OUT} after {timeout:g} s", key, source, target, stderr)
    if process.returncode == 0:
        return compiled
    if process.returncode < 0:
        reason = f"crash: {signal.Signals(-process.returncode).name}"
    else:
        reason = _first_error(stderr.decode(errors="replace"))
    return _failure(reason, key, source, target, stderr)


def _first_error(diagnostics: str) -> str:
    for line in diagnostics.splitlines():
        _, found, message = line.partition("error: ")
        if found:
            return f"error: {message}"
    return "error: the compiler gave no message"


def _failure(reason: str, key: str, source: str, target: Target, stderr: bytes) -> CompileFailure:
    path = cache_directory() / "failures" / f"{key[:16]}.mlir"
    command = shlex.join(["iree-compile", str(path), *target.compile_flags(), "-o", os.devnull])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
    except OSError as error:
        command += f"  # the region's text could not be written: {error}"
    return CompileFailure(reason, stderr.decode(errors="replace"), command)


@functools.cache
def _bound_cpu_time(pid: int, timeout: float) -> None:
    """Ends a compiler that nobody times out because this process was killed: after what all cores could spend on it."""
    seconds = ceil(timeout * (os.cpu_count() or 1)) + 1
    resource.prlimit(pid, resource.RLIMIT_CPU, (seconds, seconds))


def compiler_executable() -> Path:
    """The compiler's own binary: the `iree-compile` script on PATH is Python that starts it, at twice the cost."""
    spec = importlib.util.find_spec("iree.compiler")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("IREE's compiler is not installed; expected the package iree-base-compiler")
    return Path(spec.submodule_search_locations[0]) / "_mlir_libs" / "iree-compile"
