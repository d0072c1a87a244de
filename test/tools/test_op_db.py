"""The judge and the runner over PyTorch's own samples."""

from pathlib import Path

import pytest
import torch

from dovetail.tools.op_db import __main__ as op_db
from dovetail.tools.op_db import check as check_module
from dovetail.tools.op_db import record as record_module
from dovetail.tools.op_db.check import EAGER, NO_GRAPH, NO_SAMPLE, RIGHT, WRONG, Outcome, check
from dovetail.tools.op_db.judge import Bounds, difference
from dovetail.tools.op_db.run import Seen

pytest.importorskip("expecttest", reason="a part of the extra 'dev', which PyTorch's table of operators imports")
from dovetail.tools.op_db.cases import Case, all_cases, nudged, program, widened
from dovetail.tools.op_db.record import Record
from dovetail.tools.op_db.report import report

pytestmark = pytest.mark.slow  # PyTorch's table takes seconds to import


@pytest.mark.parametrize(
    ("actual", "message"),
    [
        (torch.ones(2, 3, dtype=torch.float64), "dtype torch.float64 for torch.float32"),
        (torch.ones(3, 2), "shape"),
        (torch.ones(3, 2).t(), "strides (1, 2) for (3, 1)"),
        (torch.full((2, 3), torch.nan), "NaN or an infinity at another place"),
        (torch.ones(2, 3) + 1e-6, "off by"),
        (None, "None for tensor"),
    ],
)
def test_difference_is_said(actual: object, message: str):
    """A difference of a kind that the judge does not look at counts as right."""
    expected = torch.ones(2, 3)
    assert message in difference(Seen({"result 0": expected}), Seen({"result 0": actual}), Bounds())


def test_what_eager_refuses_is_no_sample():
    """An op for another device counts as wrong: eager's refusal of it is an AssertionError."""
    outcome = check(Case("jiterator_unary", "float32", 0))
    assert outcome.kind == NO_SAMPLE
    assert outcome.why.startswith("AssertionError: ")


def test_a_run_without_samples_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """A device that no process can use shows no sample of any op, and the run says that none is wrong."""

    def refuse(cases, jobs, end, record, device):
        for case in cases:
            record.add(case, Outcome(NO_SAMPLE, "RuntimeError: no such device"))

    monkeypatch.setattr(op_db, "_run", refuse)
    assert op_db.main(["add", "mul", "--dtypes", "float32"]) == 1
    assert "the first one: RuntimeError: no such device" in capsys.readouterr().err


def test_errors_are_measured_against_double_precision():
    """A result nearer to the truth than eager's counts as wrong, or one four times as far counts as right."""
    truth = torch.full((4,), 1.0, dtype=torch.float64)
    eager = torch.full((4,), 1 + 1e-5)

    def seen(values: torch.Tensor) -> Seen:
        return Seen({"result 0": values})

    assert not difference(seen(eager), seen(torch.full((4,), 1 - 2e-5)), Bounds(seen(truth)))
    assert "off by" in difference(seen(eager), seen(torch.full((4,), 1 - 4e-5)), Bounds(seen(truth)))


def test_errors_in_double_precision_are_estimated_from_nudged_inputs():
    """Double precision has no wider one, so that any rounding there counts as wrong, or none does."""

    def seen(value: float) -> Seen:
        return Seen({"result 0": torch.full((4,), value, dtype=torch.float64)})

    bounds = Bounds(nudged=(seen(1), seen(1 + 1e-12)))
    assert not difference(seen(1), seen(1 - 2.5e-12), bounds)
    assert "off by" in difference(seen(1), seen(1 - 4e-12), bounds)


def test_samples_are_the_same_at_each_call():
    """Eager and compiled code are given other numbers, and every op that is not repeatable differs."""
    case = next(iter(all_cases(["add"], ["float32"], 1)))
    first, second = program(case), program(case)
    assert first is not None
    assert second is not None
    assert all(map(torch.equal, first.tensors, second.tensors))


def test_samples_that_only_gradients_have_are_widened():
    """The table has more samples of an op where gradients are asked for: the last ones could not be judged."""
    last = Case("i0", "float32", 2)
    assert program(last) is not None
    assert widened(last) is not None


def test_gradients_handed_in_are_nudged_too():
    """Where a gradient cancels, one unit in its operands is all that rounding shows: nudged inputs did not move it."""
    nudged_case = nudged(Case("softmax", "float64", 2), 0)
    assert nudged_case is not None
    ones = torch.ones(4, dtype=torch.float64)
    off = (nudged_case.handed_in(ones) - ones).abs()
    assert off.tolist() == [torch.finfo(torch.float64).eps] * 4


def test_kinds_of_outcome():
    """A sample that is never compiled, or not there, counts as right; one that Dynamo can't trace counts as wrong."""
    assert check(Case("add", "float32", 0)).kind == RIGHT
    assert check(Case("add", "float32", 10_000)).kind == NO_SAMPLE
    assert check(Case("max_pool2d_with_indices_backward", "float32", 0, dynamic=True)).kind == NO_GRAPH


def test_wrong_result_is_found(monkeypatch: pytest.MonkeyPatch):
    """A compiled result is compared with itself."""

    def wrong(function, backend, dynamic):
        return lambda *tensors: function(*tensors) + 1

    monkeypatch.setattr(check_module.torch, "compile", wrong)
    assert check(Case("mul", "float32", 0)).kind == WRONG


def test_sizes_are_open_where_that_is_asked(monkeypatch: pytest.MonkeyPatch):
    """The samples with open sizes are compiled for known ones, or counted among those."""
    asked = []

    def noted(function, backend, dynamic):
        asked.append(dynamic)
        return function

    cases = [case for dynamic in (False, True) for case in all_cases(["mul"], ["float32"], 1, dynamic=dynamic)]
    with monkeypatch.context() as patched:
        patched.setattr(check_module.torch, "compile", noted)
        for case in cases:
            check(case)
    assert asked == [False, True]
    page = report({case: check(case) for case in cases}, 1)
    assert "| float32 | 1 |" in page
    assert "| float32, dynamic=True | 1 |" in page


def test_the_page_has_what_runs_before_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`make op-db` runs samples of open sizes first, and its page shows those of known sizes alone."""

    def settle(cases, jobs, end, record, device):
        for case in cases:
            record.add(case, Outcome(RIGHT))

    monkeypatch.setattr(op_db, "_run", settle)
    record, page = f"--record={tmp_path / 'record.jsonl'}", tmp_path / "page.md"
    assert op_db.main(["mul", "--dynamic", "--samples=2", record]) == 0
    assert op_db.main(["mul", "--dtypes", "float32", "--samples=2", record, f"--output={page}"]) == 0
    rows = page.read_text().splitlines()
    assert any(row.startswith("| float32 | 2 |") for row in rows)
    assert any(row.startswith("| float32, dynamic=True | 2 |") for row in rows)


def test_a_run_goes_on_where_it_stopped(tmp_path: Path):
    """A run that was stopped begins anew, or takes what was wrong once for settled."""
    path, right, wrong = tmp_path / "record.jsonl", Case("add", "float32", 0), Case("add", "float32", 1)
    record = Record(path)
    record.add(right, Outcome(RIGHT))
    record.add(wrong, Outcome(WRONG, "off by 1"))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"op": "add", "dty')  # what a killed run leaves
    again = Record(path)
    assert again.outcomes == {right: Outcome(RIGHT), wrong: Outcome(WRONG, "off by 1")}
    assert again.settled(right)
    assert not again.settled(wrong)
    again.add(wrong, Outcome(RIGHT))
    assert Record(path).settled(wrong)


def test_a_record_of_other_sources_settles_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A page shows outcomes that an earlier state of the compiler had as those of this one."""
    path, case = tmp_path / "record.jsonl", Case("add", "float32", 0)
    with monkeypatch.context() as earlier:
        earlier.setattr(record_module, "sources", lambda: "earlier")
        Record(path).add(case, Outcome(RIGHT))
    assert not Record(path).settled(case)


def test_page_counts_reasons_wherever_the_code_lies():
    """The paths of the machine that ran the samples on the page, and one reason as many."""
    outcomes = {
        Case("sgn", "complex64", 0): Outcome(EAGER, "/a/cases.py:134: a complex number is not supported"),
        Case("norm", "complex64", 1): Outcome(EAGER, "/b/functional.py:7: a complex number is not supported"),
    }
    assert "| 2 | a complex number is not supported | norm, sgn |" in report(outcomes, 3)
