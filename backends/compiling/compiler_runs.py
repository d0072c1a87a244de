"""Runs of IREE's compiler, each in a process of its own, which never outlives whoever waits for it."""

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import ceil
from pathlib import Path

from dovetail.backends.compiling import bounded
from dovetail.errors import StartError


class Cause(Enum):
    """What kind of failure ended a run."""

    ERROR = "error"
    CRASH = "crash"
    TIME_OUT = "time-out"


_ONE_THREAD = "--mlir-disable-threading"
_GRACE_SECONDS = 2
"""How long to read on from pipes that an escaped child of a killed compiler may keep open."""


@dataclass(frozen=True)
class Run:
    """How a run ended.

    Attributes:
        output: what the compiler wrote to stdout.
        diagnostics: what it wrote to stderr.
        failure: in a line, why there is no output to use: "error: ...", "crash: SIGSEGV" or "time-out after 60 s".
        cause: of what kind that is, None without a failure.
        refused: why kernels must not be launched, by their names, where that is the failure.
    """

    output: bytes
    diagnostics: str
    failure: str | None = None
    cause: Cause | None = None
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The output of a compiler that writes text."""
        return self.output.decode(errors="replace")


def refused(why: str, kernels: Mapping[str, str] | None = None) -> Run:
    """What stands for a run whose output must not be used, or only without `kernels`; the reason for each by name."""
    return Run(b"", why, f"error: {why}", Cause.ERROR, kernels or {})


class CompilerRuns:
    """Runs that can be stopped together, from another thread, each of at most `timeout` seconds.

    Args:
        is_threaded: whether the compiler may use several threads where it makes code.

    Raises:
        StartError: by each of them, if what it runs can't be started, or `stop` was called.
    """

    def __init__(self, is_threaded: bool = True) -> None:
        self._flags = () if is_threaded else (_ONE_THREAD,)
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_stopped = False

    def stop(self) -> None:
        """Ends what runs, and refuses further runs: nobody takes their results."""
        with self._lock:
            self._is_stopped = True
            for process in self._running:
                process.kill()

    def run(self, flags: Sequence[str], source: str, timeout: float) -> Run:
        """Compiles `source`."""
        return self.execute([str(compiler_executable()), "-", *flags, *self._flags], source.encode(), timeout)

    def run_passes(self, flags: Sequence[str], text: str, timeout: float) -> Run:
        """Runs the passes that `flags` of `iree-opt` name on the module `text`."""
        return self.execute([str(_executable("iree-opt")), "-", *flags, *self._flags], text.encode(), timeout)

    def execute(self, command: Sequence[str], data: bytes, timeout: float) -> Run:
        """Runs `command`, its executable's path first, on `data` as its input."""
        # What all cores could spend on it; nobody is left to time out the compiler of a process that was killed.
        seconds = ceil(timeout * (os.cpu_count() or 1)) + 1
        bound = [sys.executable, "-I", "-S", bounded.__file__, str(os.getpid()), str(seconds)]
        with self._started([*bound, *command]) as process:
            try:
                output, stderr = process.communicate(data, timeout)
            except subprocess.TimeoutExpired:
                return Run(b"", _ended(process), f"time-out after {timeout:g} s", Cause.TIME_OUT)
            except BaseException:
                _ended(process)
                raise
            finally:
                with self._lock:
                    self._running.discard(process)
        diagnostics = stderr.decode(errors="replace")
        if process.returncode == bounded.CANNOT_START:
            raise StartError(f"the compiler can't be started: {diagnostics.strip()}")
        return Run(output, diagnostics, *_failure(process.returncode, diagnostics))

    def _started(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_stopped:
                raise StartError("compilation was stopped")
            try:
                # Without the folder that it is told of, the compiler fails; Python knows to look for another.
                environment = {**os.environ, "TMPDIR": tempfile.gettempdir()}
                # A session of its own, so that a time-out also ends the linker that the compiler started.
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                    env=environment,
                )
            except OSError as error:
                raise StartError(f"the compiler can't be started: {error.strerror}") from error
            self._running.add(process)
            return process


def _ended(process: subprocess.Popen[bytes]) -> str:
    """Kills the compiler and what it started; what it had written to stderr."""
    os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.communicate(timeout=_GRACE_SECONDS)[1].decode(errors="replace")
    return ""


def _failure(status: int, diagnostics: str) -> tuple[str, Cause] | tuple[None, None]:
    if status == 0:
        return None, None
    if status < 0:
        return f"crash: {signal.Signals(-status).name}", Cause.CRASH
    lines = [line for line in diagnostics.splitlines() if line.strip()]
    errors = [message for line in lines if (message := line.partition("error: ")[2])]
    if errors:
        return f"error: {errors[0]}", Cause.ERROR
    return f"error: the compiler exited with {status}: {lines[0] if lines else 'no message'}", Cause.ERROR


def compiler_executable() -> Path:
    """The compiler's own binary: the `iree-compile` script on PATH is Python that starts it, at twice the cost.

    Raises:
        StartError: if IREE's compiler is not installed.
    """
    return _executable("iree-compile")


def _executable(name: str) -> Path:
    spec = importlib.util.find_spec("iree.compiler")
    if spec is None or not spec.submodule_search_locations:
        raise StartError("IREE's compiler is not installed; expected the package iree-base-compiler")
    return Path(spec.submodule_search_locations[0]) / "_mlir_libs" / name
