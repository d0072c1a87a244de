"""The fuzzer's command line, and a fixed budget of its programs."""

from pathlib import Path
from time import monotonic

import pytest
import torch

from dovetail.tools.fuzz.__main__ import main
from dovetail.tools.fuzz.check import Outcome, check_forms
from dovetail.tools.fuzz.compare import Difference, differences
from dovetail.tools.fuzz.derivatives.called import Called
from dovetail.tools.fuzz.derivatives.reverse import second
from dovetail.tools.fuzz.observe import Observed
from dovetail.tools.fuzz.seeds import programs
from dovetail.tools.fuzz.workers import Workers

SEEDS = {"alias": range(8), "compute": (1, 2), "dynamic": (1, 8), "data": (6,), "derivatives": range(4)}


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        pytest.param(kind, seed, marks=[pytest.mark.slow] if seed > 2 else [])
        for kind, seeds in SEEDS.items()
        for seed in seeds
    ],
)
def test_no_difference(kind: str, seed: int) -> None:
    """Catches whatever made compiled code differ from eager since these programs last ran."""
    outcome = check_forms(programs(kind, seed), "dovetail", iree=seed == 0)
    assert outcome.status != "eager raised"
    assert not outcome.found


@pytest.mark.parametrize("seed", range(4))
def test_no_difference_of_errors(seed: int) -> None:
    """Catches what compiled code computes in place of eager's error."""
    outcome = check_forms(programs("errors", seed), "dovetail", iree=True)
    assert outcome.status in ("eager raised", "Dynamo")


@pytest.mark.parametrize(
    ("error", "found"),
    [(ZeroDivisionError(), 0), (RuntimeError("ready INTERNAL ASSERT FAILED at engine.cpp"), 0), (RuntimeError(), 3)],
    ids=repr,
)
def test_gradients_that_eager_cannot_trace(error: Exception, found: int) -> None:
    """The gradient of a mean loss of no elements is there, but not in `cond`: what computes it counted as different.

    So it did where a GPU's eager ends in an assertion of PyTorch's own, which is no word on what is right. Numbers that
    eager's dropout had drawn before such an error counted as drawn differently.
    """
    raised, has_one, state = ("raised", "backward"), ("gradient", "x has one"), ("random", "generator's state")
    eager = Observed({raised: True, ("note", "backward"): error, has_one: False, state: 1})
    assert len(differences(0, eager, Observed({raised: False, has_one: True, state: 2}))) == found


def test_only_gradients_that_hang_on_something_are_differentiated_again() -> None:
    """Eager's gradient of `leaky_relu` requires one, and has zeros: all behind it counted as different, since it was
    summed in another direction."""
    x = torch.linspace(-1, 1, 5).requires_grad_()
    for fn, is_there in ((torch.nn.functional.leaky_relu, False), (torch.tanh, True)):
        found = dict(second(Called(fn, [x], [fn(x)], {"x": x}, (0,))))
        assert not found["first of x"].requires_grad
        assert ("second of x" in found) is is_there


def test_run_stops_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a run that goes beyond its time, or a record after which nothing is left to run, or all."""
    # Programs of no work, in this process; test/fuzz/test_workers.py starts others.
    monkeypatch.setattr(
        Workers, "run", lambda _, jobs, end: ((job, Outcome("same")) for job in jobs if monotonic() < end)
    )
    arguments = ["--kinds", "alias", "--seeds", "0:4", "--jobs", "1", "--record", str(tmp_path / "record")]
    output = tmp_path / "report.md"
    main([*arguments, "--seconds", "0", "-o", str(output)])
    assert "| programs | 0 |" in output.read_text(encoding="utf-8")
    main([*arguments, "-o", str(output)])
    assert "| programs | 4 |" in output.read_text(encoding="utf-8")


def test_differences_of_a_record_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run whose time ended before they ran again left known differences out of its report, and passed.

    Or its last line, which the report of a GPU repeats, does not say which seeds differ.
    """
    found = Outcome("different", (Difference("value", 0, "output 0", "1", "2"),))
    monkeypatch.setattr(Workers, "run", lambda _, jobs, end: ((job, found) for job in jobs if monotonic() < end))
    output = tmp_path / "report.md"
    arguments = ["--kinds", "alias", "--seeds", "0:2", "--minimise", "0", "--record", str(tmp_path / "record")]
    arguments += ["-o", str(output)]
    for more in ([], ["--seconds", "0"]):
        assert main([*arguments, *more]) == 1
        assert "| different | 2 |" in output.read_text(encoding="utf-8")
        last = capsys.readouterr().out.splitlines()[-1]
        assert last == "alias, dovetail: 2 programs: 2 different (by seed: value 0, 1)"


def test_kinds_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a mistyped kind that runs nothing and passes."""
    with pytest.raises(SystemExit):
        main(["--kinds", "alias,computed"])
    assert "expected some of alias,compute,dynamic,data,derivatives,errors" in capsys.readouterr().err


def test_range_of_seeds_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a mistyped range that runs nothing and passes."""
    for wrong in ("5:5", "a:b", "9:3", ":4"):
        with pytest.raises(SystemExit):
            main(["--seeds", wrong])
    assert "is not a range of seeds" in capsys.readouterr().err
