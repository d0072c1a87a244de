"""What a GPU is checked by, all of it at the same time: tests of pytest's, and the tools that compare with eager."""

import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from dovetail.tools.gpu.report import TestRun

GRACE = 20.0
"""Seconds that a command has to say what it found, after its time is over."""
CORES = 16
"""Of the host of one GPU; all checks together use as many processes."""
_LONGEST = 300
"""Characters of what a test raised."""
_NOT_COLLECTED = "collection failure"
"""What pytest says in place of the error."""


@dataclass(frozen=True)
class Check:
    """A command of `python -m`, in the root of the source tree.

    Attributes:
        name: what the report calls it.
        words: module and arguments.
        processes: how many it uses on a host of `CORES`, in proportion on a larger one.
        shows: a pattern of the lines, of what a tool prints, that the report repeats; "" for pytest.
        fails: a pattern of those that name what failed.
    """

    name: str
    words: tuple[str, ...]
    processes: int
    shows: str = ""
    fails: str = ""

    def command(self, seconds: float, junit: Path) -> list[str]:
        """What is run; a tool ends by itself in time."""
        command = [sys.executable, "-m", *self.words]
        processes = str(self.processes * max(1, len(os.sched_getaffinity(0)) // CORES))
        if self.shows:
            return [*command, "--jobs", processes, "--seconds", str(max(seconds - GRACE, 1.0))]
        command += ["-q", "-p", "no:cacheprovider", "--tb=line", f"--junitxml={junit}"]
        return [*command, *(["-n", processes] if find_spec("xdist") else [])]


_ON_GPU = ("--device", "cuda")
_LAYOUTS = "test/dialects/torch_facts/test_kernel_layouts.py"
_BATCHED = "test/runtime/autograd/test_batched.py"
_FUZZ = ("dovetail.tools.fuzz", *_ON_GPU, "--minimise", "0")
_FOUND_BY_FUZZ = {"shows": r"\w+, dovetail: ", "fails": r"dovetail, \w+ seed \d+"}
_OP_DB = ("dovetail.tools.op_db", *_ON_GPU, "--dtypes", "float32", "bfloat16", "--samples", "1")

CHECKS = (
    Check("tests that need a GPU", ("pytest", "-m", "cuda", "test"), 2),
    Check("semantics and mixed devices, on a GPU", ("pytest", *_ON_GPU, "test/devices", "test/semantics", _BATCHED), 2),
    Check("layouts of its kernels", ("pytest", *_ON_GPU, _LAYOUTS), 1),
    # Each kind for itself: the first one's programs would take all of the time.
    Check(
        "random programs of views and writes", (*_FUZZ, "--seeds", "0:1800", "--kinds", "alias"), 3, **_FOUND_BY_FUZZ
    ),
    Check("random programs of many ops", (*_FUZZ, "--seeds", "0:1000", "--kinds", "compute"), 3, **_FOUND_BY_FUZZ),
    Check("PyTorch's samples", _OP_DB, 2, shows=r"\d+ samples: ", fails=r"[\w.]+, \w+, sample \d+.*: "),
    Check(
        "the table of wrongs",
        ("dovetail.tools.wrongs", *_ON_GPU),
        3,
        shows=r"not measured|\d+ of \d+ rows",
        fails=r"\w+: (eager|.*Dovetail WRONG)",
    ),
)


def run_checks(root: Path, checks: Sequence[Check], seconds: float) -> list[TestRun]:
    """Runs `checks` side by side, each for so many seconds at most and then some to say what it found."""
    with ThreadPoolExecutor(len(checks)) as pool:
        return list(pool.map(partial(_run, root, seconds), checks))


def _run(root: Path, seconds: float, check: Check) -> TestRun:
    begin = perf_counter()
    with TemporaryDirectory() as folder:
        junit = Path(folder, "junit.xml")
        command = check.command(seconds, junit)
        process = subprocess.Popen(
            command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        )
        said, is_late = _output(process, seconds)
        with suppress(ProcessLookupError):  # workers that outlive their command slow what is measured next
            os.killpg(process.pid, signal.SIGKILL)
        failures = _failed_tests(junit) if junit.exists() else _lines(said, check.fails)
    print(f"{check.name}:\n{said[-8000:]}", flush=True)
    summary = "; ".join(_lines(said, check.shows)) or _last(said).strip("= ")
    late = f", stopped after {seconds:.0f} s" if is_late else ""
    is_silent = process.returncode and not is_late and not failures
    return TestRun(
        check.name,
        summary + late,
        (f"status {process.returncode}: {_last(said)}",) if is_silent else tuple(failures),
        perf_counter() - begin,
    )


def _output(process: subprocess.Popen, seconds: float) -> tuple[str, bool]:
    """What a command prints, and whether it had to be interrupted."""
    try:
        return process.communicate(timeout=seconds)[0], False
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=GRACE)[0], True
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0], True


def _lines(said: str, pattern: str) -> list[str]:
    return [line.strip() for line in said.splitlines() if pattern and re.match(pattern, line)]


def _last(said: str) -> str:
    return (said.strip().splitlines() or ["no output"])[-1].strip()


def _failed_tests(junit: Path) -> list[str]:
    """Their names, each with the first line of what it raised."""
    found = []
    for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        for each in (each for each in case if each.tag in ("failure", "error")):
            why = (each.get("message") or "").partition("\n")[0]
            if why == _NOT_COLLECTED:
                why = _last(each.text or "")
            found.append(f"{case.get('classname')}::{case.get('name')}: {why[:_LONGEST]}")
    return list(dict.fromkeys(found))
