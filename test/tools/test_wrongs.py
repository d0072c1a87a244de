"""The table of wrongs: how outcomes are judged, and what the documents say of them."""

import json
import re
from pathlib import Path

import pytest
import torch
from wrong_observations import dies, first, identity, raises, second

from dovetail.errors import DovetailError
from dovetail.tools.regenerate_docs import found_sections
from dovetail.tools.wrongs import cases, measure
from dovetail.tools.wrongs.__main__ import main
from dovetail.tools.wrongs.case import Case
from dovetail.tools.wrongs.outcome import Observed, judged
from dovetail.tools.wrongs.report import SECTION, line, markdown, store, telling_cases


def readme_rows(repository: Path) -> list[list[str]]:
    """The cells of the documented table, row by row."""
    text = found_sections((repository / "docs/wrongs.md").read_text(encoding="utf-8"))[SECTION]
    return [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines()[2:]]


def test_readme_has_a_row_for_each_case(repository):
    """A case was added, renamed or dropped, and `make wrongs` not run."""
    shown = [re.sub(r" \(\[#\d+\].*\)$", "", row[0].strip()) for row in readme_rows(repository)]
    assert shown == [case.title for case in cases.CASES]


def test_readme_says_that_dovetail_is_right(repository):
    """The table was regenerated with a row where Dovetail is wrong, or not at all."""
    outcomes = {row[0].strip(): row[-1].strip() for row in readme_rows(repository)}
    assert outcomes
    assert {title: text for title, text in outcomes.items() if not text.startswith("right")} == {}


def test_names_are_unique():
    """A case that shadows another is never run."""
    names = [case.name for case in cases.CASES]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize(
    ("actual", "right", "text"),
    [
        (Observed({"a": 1, "b": 2}), True, "right"),
        (Observed({"a": 1, "b": 2}, eagerly=True), True, "right, run eagerly with a warning"),
        (Observed({"a": 1, "b": 3}), False, "silently wrong: b 3"),
        (Observed({"a": 0}, "raises TypeError"), False, "silently wrong: a 0; raises TypeError"),
        (Observed({"a": 1}, "crashes the process: SIGSEGV"), False, "crashes the process: SIGSEGV"),
        (Observed({}, "refused"), False, "refused"),
    ],
)
def test_judged(actual, right, text):
    """A wrong value passes, or hides behind an error that came after it."""
    outcome = judged(Observed({"a": 1, "b": 2}), actual)
    assert (outcome.right, outcome.text) == (right, text)


def test_a_crash_is_an_outcome():
    """A backend that takes its process with it takes the table too."""
    dying = Case("dying", "", identity, (dies,))
    assert measure.in_a_process(dying, dies, "eager", {}, "cpu").failure == "crashes the process: SIGKILL"


def test_a_case_that_eager_refuses(tmp_path):
    """A case that eager refuses on this device ends the run, with nothing of the others, or passes for right."""
    broken = Case("broken", "", identity, (raises,))
    row = measure.measure(broken, tmp_path)
    assert not any(outcome.right for outcome in row.values())
    assert line(broken, row) == "broken: eager raises ValueError, nothing to compare with"


def test_processes_of_one_order_share_a_cache(tmp_path):
    """The second process finds no cache, or that of the other order: nothing across processes is tested."""
    facts = measure.observed(Case("shared", "", identity, (first, second)), "eager", tmp_path).facts
    assert facts["cache when first is first"] == facts["cache when second is after first"]
    assert facts["cache when second is first"] == facts["cache when first is after second"]
    assert facts["cache when first is first"] != facts["cache when second is first"]


def test_case_that_was_not_measured_is_said_to_be(tmp_path):
    """A new case takes the outcome of another, or none is shown."""
    path = tmp_path / "measured.json"
    store({}, path)
    assert markdown(cases.CASES, path).count("**not measured**") == 3 * len(cases.CASES)


def test_rows_of_other_cases_are_kept(tmp_path):
    """Measuring one case empties the table, or rows measured with another PyTorch stay beside its own."""
    path = tmp_path / "measured.json"
    outcome = judged(Observed({"a": 1}), Observed({"a": 1}))
    store({"one": {"eager": outcome}}, path)
    store({"two": {"eager": outcome}}, path)
    assert list(json.loads(path.read_text(encoding="utf-8"))["rows"]) == ["one", "two"]
    path.write_text(path.read_text(encoding="utf-8").replace(torch.__version__, "2.0"), encoding="utf-8")
    store({"two": {"eager": outcome}}, path)
    assert list(json.loads(path.read_text(encoding="utf-8"))["rows"]) == ["two"]


def test_telling_rows_exist():
    """A case was renamed, and the README shows nine rows for ten."""
    assert [case.name for case in telling_cases()] == list(cases.TELLING)


def test_unknown_case_is_refused(capsys):
    """A misspelt case is skipped, and all is said to be right."""
    assert main(["identiti"]) == 2
    assert "unknown case 'identiti', valid are overlap_changes" in capsys.readouterr().err
    with pytest.raises(DovetailError):
        cases.case("identiti")


def test_what_is_left_is_named(capsys):
    """A run that time ends says nothing of the rows it lacks, and counts as right."""
    assert main(["identity", "--seconds", "0"]) == 1
    assert "not measured in time: identity" in capsys.readouterr().out
