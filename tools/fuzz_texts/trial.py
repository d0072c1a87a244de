"""Runs a command on a mutant, in a forked process with limits, and judges what came of it."""

import faulthandler
import gc
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing.connection import wait
from pathlib import Path

import torch

from dovetail.tools.contained import contained
from dovetail.tools.fuzz_texts.canary import watch
from dovetail.tools.fuzz_texts.mutant import INPUT, Mutant
from dovetail.tools.fuzz_texts.payloads import CANARY

SECONDS, COMPILER_SECONDS = 30, 200
_TELLING_SECONDS = 10
"""For a process that is stopped to write its stack."""

MEMORY_BYTES = 6 << 30
"""Beyond what the process has when it starts, of addresses."""

FINDINGS = ("ran code", "traceback", "hang", "signal", "no clear error")
"""The outcomes that must not be."""

CONTAINED, LOOP = "error, contained", "loop"
"""Of the others: an error that was a signal, and a module whose own `while_loop` does not end."""

RIGHT = ("result", "error", CONTAINED, LOOP)

_UNFORESEEN = 70
_CONTAINED = re.compile(r"the input could not be processed, (SIG\w+) ended")
_SHOWN = 1 << 20


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: one of `FINDINGS` or of what is right, and the message that tells more."""

    kind: str
    message: str

    @property
    def is_finding(self) -> bool:
        return self.kind in FINDINGS


def try_out(mutant: Mutant, folder: Path) -> Outcome:
    """Runs `mutant` in `folder`, which this empties first. This process must have no threads, and must be warm."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("here", "temporary", "cache", "modules"):
        (folder / name).mkdir(parents=True)
    (folder / "modules" / f"{CANARY}.py").write_text("class Tensor: pass\n", encoding="utf-8")
    (folder / "input").write_bytes(mutant.contents)
    child = os.fork()
    if not child:
        _work(mutant, folder)
    ended = _wait(child, COMPILER_SECONDS if mutant.compiles else SECONDS)
    _, status = os.waitpid(child, 0)
    return _judged(ended, status, folder)


def _wait(child: int, seconds: float) -> bool:
    """Whether `child` ended by itself within `seconds`; else it is killed, with all that it started."""
    handle = os.pidfd_open(child)
    try:
        if wait([handle], seconds):
            return True
        os.killpg(child, signal.SIGUSR1)
        wait([handle], _TELLING_SECONDS)
        os.killpg(child, signal.SIGKILL)
        return False
    finally:
        os.close(handle)


def _work(mutant: Mutant, folder: Path) -> None:
    """The child's side; never returns."""
    status = _UNFORESEEN
    try:
        gc.freeze()  # collecting what the parent has would copy every page of it
        os.setsid()
        os.chdir(folder / "here")
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "temporary")
        os.environ["DOVETAIL_CACHE_DIR"] = str(folder / "cache")
        _redirect(folder)
        faulthandler.disable()  # what a signal prints is not the command's
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # where it waits for the process that works is nothing to tell
        sys.path.insert(0, str(folder / "modules"))
        _limit()
        seen = os.open(folder / "seen", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        watch(partial(_tell, seen))
        command, *arguments = (str(folder / "input") if each == INPUT else each for each in mutant.command)
        status = contained(f"dovetail-{command}", partial(_worked, _main(command), arguments))
    except BaseException as error:
        traceback.print_exc()
        status = error.code if isinstance(error, SystemExit) and isinstance(error.code, int) else _UNFORESEEN
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _worked(main: Callable[[list[str]], int], arguments: list[str]) -> int:
    """The status of the command; the signal that says that it takes too long shows this process' stack and ends it."""
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)
    faulthandler.register(signal.SIGUSR1, sys.stderr, all_threads=False, chain=True)
    return main(arguments)


def _tell(file: int, what: str) -> None:
    os.write(file, f"{what}\n".encode(errors="replace"))


def _main(command: str) -> Callable[[list[str]], int]:
    return import_module(f"dovetail.tools.{command}.command").main


def _redirect(folder: Path) -> None:
    for number, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(folder / name, os.O_WRONLY | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))


def _limit() -> None:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    bound = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _judged(ended: bool, status: int, folder: Path) -> Outcome:
    told = (folder / "stderr").read_bytes()[:_SHOWN].decode(errors="replace")
    printed = (folder / "stdout").read_bytes()[:_SHOWN]
    seen = (folder / "seen").read_text(encoding="utf-8", errors="replace") if (folder / "seen").exists() else ""
    named = {path for path in folder.rglob(f"*{CANARY}*") if path.parent.name != "modules"}
    made = sorted(map(str, named.union((folder / "here").iterdir())))
    if seen or made:
        return Outcome("ran code", seen.strip() or f"made {', '.join(made)}")
    if not ended:
        stack = _innermost_last(told)
        return Outcome(LOOP if "in run_while_loop" in stack else "hang", stack)
    if os.WIFSIGNALED(status):
        return Outcome("signal", signal.Signals(os.WTERMSIG(status)).name)
    code = os.waitstatus_to_exitcode(status)
    if code == _UNFORESEEN or "Traceback (most recent call last)" in told:
        return Outcome("traceback", told[-1500:])
    if "\x1b" in told or b"\x1b" in printed:
        return Outcome("no clear error", f"the terminal would obey what it printed: {told[-300:]!r}")
    if code == 0:
        return Outcome("result", "")
    signalled = _CONTAINED.search(told)
    if code == 1 and signalled:
        return Outcome(CONTAINED, signalled[1])
    if code == 1 and re.search(r"^dovetail-(opt|run): \S", told, re.MULTILINE):
        return Outcome("error", told[told.index("dovetail-") :].strip())
    return Outcome("no clear error", f"status {code}: {told[-300:]}")


def _innermost_last(told: str) -> str:
    """The frames that `faulthandler` wrote to the end of `told`, the one that was running last."""
    frames = told.rpartition("Stack (most recent call first):\n")[2].splitlines()
    return "\n".join(frame for frame in reversed(frames) if frame.startswith("  File "))


def warm_up() -> None:
    """Loads what the commands load, so that forked processes need not; starts no threads."""
    torch.set_num_threads(1)
    for name in ("build", "runtime.reference", "tools.opt.command", "tools.run.command"):
        import_module(f"dovetail.{name}")
