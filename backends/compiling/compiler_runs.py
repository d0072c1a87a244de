"""Runs of IREE's compiler, each in a process of its own, which never outlives whoever waits for it."""

import importlib.util
import os
import signal
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import ceil
from pathlib import Path
from typing import IO

from dovetail.backends.compiling import iree_worker
from dovetail.backends.compiling.forked_command import ForkedCommand
from dovetail.backends.compiling.source import Ended
from dovetail.backends.worker.agreed import CANNOT_START
from dovetail.errors import StartError


class Cause(Enum):
    """What kind of failure ended a run."""

    ERROR = "error"
    CRASH = "crash"
    TIME_OUT = "time-out"


_ONE_THREAD = "--mlir-disable-threading"


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
        self._running: set[ForkedCommand] = set()
        self._is_stopped = False

    def stop(self) -> None:
        """Ends what runs, and refuses further runs: nobody takes their results."""
        with self._lock:
            self._is_stopped = True
            for command in self._running:
                command.kill()

    def run(self, flags: Sequence[str], source: str, timeout: float) -> Run:
        """Compiles `source`."""
        return self.execute([str(compiler_executable()), "-", *flags, *self._flags], source.encode(), timeout)

    def run_passes(self, flags: Sequence[str], text: str, timeout: float) -> Run:
        """Runs the passes that `flags` of `iree-opt` name on the module `text`."""
        return self.execute([str(_executable("iree-opt")), "-", *flags, *self._flags], text.encode(), timeout)

    def execute(self, command: Sequence[str], data: bytes, timeout: float) -> Run:
        """Runs `command`, its executable's path first, on `data` as its input."""
        with tempfile.TemporaryFile() as text, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as messages:
            text.write(data)
            text.seek(0)
            running = self._started(command, timeout, [text, output, messages])
            try:
                status = running.status(timeout)
            except Ended as error:
                return Run(b"", str(error), f"crash: {error}", Cause.CRASH)
            finally:
                running.end()
                with self._lock:
                    self._running.discard(running)
            diagnostics = _contents(messages).decode(errors="replace")
            if status is None:
                return Run(b"", diagnostics, f"time-out after {timeout:g} s", Cause.TIME_OUT)
            if status == CANNOT_START:
                raise StartError(f"the compiler can't be started: {diagnostics.strip()}")
            return Run(_contents(output), diagnostics, *_failure(status, diagnostics))

    def _started(self, command: Sequence[str], timeout: float, files: Sequence[IO[bytes]]) -> ForkedCommand:
        # What all cores could spend on it; nobody is left to time out the compiler of a process that was killed.
        seconds = ceil(timeout * (os.cpu_count() or 1)) + 1
        # Without the folder that it is told of, the compiler fails; Python knows to look for another.
        environment = {**os.environ, "TMPDIR": tempfile.gettempdir()}
        with self._lock:
            if self._is_stopped:
                raise StartError("compilation was stopped")
            try:
                running = iree_worker.worker.command(command, environment, seconds, files)
            except OSError as error:
                raise StartError(f"the compiler can't be started: {error.strerror or error}") from error
            self._running.add(running)
            return running


def _contents(file: IO[bytes]) -> bytes:
    file.seek(0)  # also of whoever wrote: they share a position
    return file.read()


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
