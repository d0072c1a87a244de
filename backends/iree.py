"""Compiles regions with IREE in worker processes, several at once; whatever goes wrong there stays there."""

import functools
import importlib.util
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from dovetail.backends.cache import RegionCache, cache_directory, region_key
from dovetail.backends.target import Target

# Failures of this process's lifetime, by region key: a region that crashed the compiler once isn't tried again.
# Kept in memory only, so that a time-out on a busy machine can't outlive the process.
_failures: dict[str, "CompileFailure"] = {}


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


def compile_regions(
    sources: Mapping[str, str],
    target: Target,
    *,
    timeout: float,
    jobs: int | None = None,
    cache: RegionCache | None = None,
) -> dict[str, bytes | CompileFailure]:
    """Compiles each region's text (form: docs/iree-region-abi.md); equal texts are compiled once.

    Args:
        sources: MLIR text in the torch dialect, by region name.
        target: what to compile for.
        timeout: seconds for each region.
        jobs: processes at once; by default the cores that this process may use.
        cache: where to look first and store afterwards; None compiles always.

    Returns:
        For each name the loadable bytes, or what went wrong. Regions never raise.
    """
    keys = {name: region_key(source, target) for name, source in sources.items()}
    distinct = {keys[name]: source for name, source in sources.items()}

    def obtain(item: tuple[str, str]) -> bytes | CompileFailure:
        key, source = item
        if key in _failures:
            return _failures[key]
        cached = cache.load(key) if cache else None
        if cached is not None:
            return cached
        outcome = _compile(key, source, target, timeout)
        if isinstance(outcome, CompileFailure):
            _failures[key] = outcome
        elif cache:
            cache.store(key, outcome)
        return outcome

    with ThreadPoolExecutor(jobs or len(os.sched_getaffinity(0)), thread_name_prefix="dovetail-compile") as pool:
        outcomes = dict(zip(distinct, pool.map(obtain, distinct.items()), strict=True))
    return {name: outcomes[key] for name, key in keys.items()}


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
        try:
            compiled, stderr = process.communicate(source.encode(), timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            _, stderr = process.communicate()
            return _failure(f"time-out after {timeout:g} s", key, source, target, stderr)
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
def compiler_executable() -> Path:
    """The compiler's own binary: the `iree-compile` script on PATH is Python that starts it, at twice the cost."""
    spec = importlib.util.find_spec("iree.compiler")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("IREE's compiler is not installed; expected the package iree-base-compiler")
    return Path(spec.submodule_search_locations[0]) / "_mlir_libs" / "iree-compile"
