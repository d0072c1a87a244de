"""The fuzzer of texts: a fixed budget of its mutants, and that its judge sees what it is there for."""

import contextlib
import importlib
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from new_process import run_python

from dovetail.backends.python.control_flow import run_while_loop
from dovetail.tools.fuzz_texts import trial
from dovetail.tools.fuzz_texts.mutant import INPUT, Mutant
from dovetail.tools.fuzz_texts.payloads import CANARY

BUDGET = 8


@pytest.mark.slow
def test_mutants_end_in_a_result_or_an_error(repository: Path, tmp_path: Path):
    """Catches what makes a stranger's text run, or end in a traceback, since these mutants last ran."""
    page = tmp_path / "report.md"
    # Of few texts, since each is read before.
    texts = ["--tests", repository / "test" / "dialects"]
    seeds = ["--seeds", f"0:{BUDGET}", "--findings", tmp_path / "findings", "-o", page]
    # A process of its own, since it forks: this one may have threads.
    program = "import runpy; runpy.run_module('dovetail.tools.fuzz_texts', run_name='__main__', alter_sys=True)"
    done = run_python(program, *texts, *seeds)
    assert done.returncode == 0, done.stdout + done.stderr
    text = page.read_text(encoding="utf-8")
    assert f"## Seeds 0 to {BUDGET - 1}" in text
    counts = [int(count) for count in re.findall(r"\| (\d+) \|$", text, re.MULTILINE)]
    assert sum(counts) == BUDGET


def _ran_code() -> int:
    exec(f"def {CANARY}(): pass", {})
    return 0


def _imported() -> int:
    with contextlib.suppress(ImportError):
        importlib.import_module(CANARY)
    return 0


def _opened() -> int:
    Path(CANARY).write_text("")
    return 0


def _started() -> int:
    os.system("true")
    return 0


def _raised() -> int:
    raise KeyError("dovetail.name")


def _crashed() -> int:
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0


def _hung() -> int:
    time.sleep(60)
    return 0


def _looped() -> int:
    run_while_loop(lambda values: (True,), list, [], [])
    return 0


def _cleared_the_screen() -> int:
    print("dovetail-opt: \x1b[2J", file=sys.stderr)
    return 1


def _said_nothing() -> int:
    return 1


def _said_what_is_wrong() -> int:
    print("dovetail-opt: expected a module", file=sys.stderr)
    return 1


def _gave_a_result() -> int:
    return 0


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (_ran_code, "ran code"),
        (_imported, "ran code"),
        (_opened, "ran code"),
        (_started, "ran code"),
        (_raised, "traceback"),
        (_crashed, trial.CONTAINED),
        (_hung, "hang"),
        (_looped, trial.LOOP),
        (_cleared_the_screen, "no clear error"),
        (_said_nothing, "no clear error"),
        (_said_what_is_wrong, "error"),
        (_gave_a_result, "result"),
    ],
)
def test_judge_sees_it(work: Callable[[], int], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Catches a judge that finds nothing because it looks at nothing."""
    monkeypatch.setattr(trial, "SECONDS", 1 if work in (_hung, _looped) else 30)
    monkeypatch.setattr(trial, "_main", lambda command: lambda arguments: work())
    outcome = trial.try_out(Mutant(0, "text", ("opt", INPUT), b""), tmp_path / "trial")
    assert outcome.kind == kind, outcome.message


def test_hang_shows_the_process_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Catches the stacks of two processes in one another, in which the judge found no loop and a reader no cause."""
    monkeypatch.setattr(trial, "SECONDS", 1)
    monkeypatch.setattr(trial, "_main", lambda command: lambda arguments: _hung())
    outcome = trial.try_out(Mutant(0, "text", ("opt", INPUT), b""), tmp_path / "trial")
    assert outcome.message.splitlines()[-1].endswith("in _hung")
    told = (tmp_path / "trial" / "stderr").read_text(encoding="utf-8")
    assert told.count("most recent call first") == 1
