"""A run that goes on where an earlier one stopped shows what both have found, and runs again what differed."""

import re
from collections import Counter
from pathlib import Path

import pytest

from dovetail.tools.fuzz import record
from dovetail.tools.fuzz.__main__ import main
from dovetail.tools.fuzz.check import Outcome
from dovetail.tools.fuzz.compare import Difference
from dovetail.tools.fuzz.record import Record
from dovetail.tools.fuzz.workers import Job

SAME = Outcome("same", graphs=2, checks=Counter({True: 3}), eager=Counter(["a reason"]))
DIFFERENT = Outcome("different", (Difference("value", 1, "output 0", "[1.0]", "[2.0]"),))


def test_settled_outcomes_survive(tmp_path: Path) -> None:
    """Catches an outcome that comes back changed, and a difference that is never looked at again."""
    first, second, other = Job(1, "dovetail", False), Job(2, "dovetail", True), Job(2, "dovetail", False)
    record = Record(tmp_path / "record")
    record.add(first, SAME)
    record.add(second, DIFFERENT)
    again = Record(tmp_path / "record")
    assert again.settled(first) == SAME
    assert again.settled(second) is None
    assert again.settled(other) is None
    again.add(second, SAME)
    assert Record(tmp_path / "record").settled(second) == SAME
    assert Record(tmp_path / "record").again == {second}


def test_other_programs_are_not_taken_for_these(tmp_path: Path) -> None:
    """Catches outcomes of an older generator's programs, which had the same seeds."""
    path = tmp_path / "record"
    Record(path).add(Job(1, "dovetail", False), SAME)
    path.write_text(path.read_text(encoding="utf-8").replace('"generator": ', '"generator": 1'), encoding="utf-8")
    assert Record(path).settled(Job(1, "dovetail", False)) is None


def test_outcomes_of_other_sources_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a page that says of today's sources what yesterday's did, and a record that a killed run left torn."""
    path, job = tmp_path / "record", Job(1, "dovetail", False)
    Record(path).add(job, SAME)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"generator": 1, "se')
    assert Record(path).earlier == set()
    monkeypatch.setattr(record, "sources", lambda: "others")
    again = Record(path)
    assert again.earlier == {job}
    again.add(job, SAME)
    assert again.earlier == Record(path).earlier == set()


def test_outcomes_with_another_torch_have_a_column(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    """Catches a page that leaves out what ran on another machine, or counts it among this PyTorch's."""
    path, job = tmp_path / "record", Job(1, "dovetail", False)
    Record(path).add(job, DIFFERENT)
    path.write_text(re.sub('"torch": "[^"]*"', '"torch": "1.2.3"', path.read_text(encoding="utf-8")), encoding="utf-8")
    assert Record(path).settled(job) is None
    assert Record(path).elsewhere == {"1.2.3": {job: DIFFERENT}}
    assert main(["--kinds", "alias", "--seeds", "1:2", "--seconds", "0", "--record", str(path)]) == 0
    page = capsys.readouterr().out
    assert "| alias, dovetail | alias, dovetail, torch 1.2.3 |" in page
    assert "| programs | 0 | 1 |" in page
