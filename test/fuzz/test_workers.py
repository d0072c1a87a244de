"""A program that takes its process down is an outcome, and the seeds after it still run."""

import time

import pytest

from dovetail.tools.fuzz import workers
from dovetail.tools.fuzz.workers import Job, Workers

CRASH = "no such backend"  # the process dies of a KeyError


def test_crash_is_an_outcome(capfd: pytest.CaptureFixture[str]) -> None:
    """Catches a run that ends, hangs or silently skips a seed when a program kills its process."""
    jobs = [Job(2, "eager-check", False), Job(1, CRASH, False), Job(3, "eager-check", False)]
    outcomes = {job.seed: outcome for job, outcome in Workers(1).run(jobs)}
    assert {seed: each.status for seed, each in outcomes.items()} == {2: "same", 1: "different", 3: "same"}
    (difference,) = outcomes[1].found
    assert difference.kind == "crashed"
    assert CRASH in capfd.readouterr().err


def test_endless_program_is_an_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a compiler that loops for ever and takes the whole run with it."""
    monkeypatch.setattr(workers, "_SECONDS", 0.0)
    monkeypatch.setattr(workers, "wait", lambda pipes, timeout: [])
    ((_, outcome),) = Workers(1).run([Job(2, "eager-check", False)])
    assert [each.kind for each in outcome.found] == ["crashed"]


def test_a_run_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a run that waits for its last programs, for minutes, and is killed before it says what others showed."""
    monkeypatch.setattr(workers, "wait", lambda pipes, timeout: time.sleep(0.01) or [])
    begin = time.monotonic()
    assert list(Workers(2).run([Job(2, "eager-check", False), Job(3, "eager-check", False)], begin + 0.5)) == []
    assert time.monotonic() < begin + 30
