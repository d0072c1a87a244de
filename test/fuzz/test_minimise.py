"""The minimiser takes all away that a failure does not need, with a backend that is wrong on purpose."""

import runpy
from pathlib import Path

import pytest
import torch

from dovetail.tools.fuzz import backends
from dovetail.tools.fuzz.check import check
from dovetail.tools.fuzz.minimise import minimise, shows
from dovetail.tools.fuzz.program import Block, Call, CodeLine, Parameter, Program, code_lines
from dovetail.tools.fuzz.recipes import fresh
from dovetail.tools.fuzz.render import render, script

X, Y = Parameter("x0", (2, 3), "torch.float32"), Parameter("x1", (4,), "torch.float32")
OVERLAPPING = (CodeLine("torch.arange(8.0)", (), ("b",)), CodeLine("{0}[1:7].view(2, 3)", ("b",), ("x0",)))
PROGRAM = Program(
    parameters=(X, Y),
    body=(
        CodeLine("{0}.sin()", ("x1",), ("v0",)),
        Block("torch.no_grad()", (CodeLine("{0}.add_(1)", ("x0",)), CodeLine("{0} * 2", ("x0",), ("v1",)))),
        CodeLine("{0}.t()", ("x0",), ("v2",)),
        CodeLine("{0}[1:]", ("v2",), ("v3",)),
        CodeLine("{0} + {1}", ("v0", "v0"), ("v4",)),
    ),
    results=(CodeLine("{0}", ("v4",)), CodeLine("{0}[0]", ("v3",)), CodeLine("None"), CodeLine("{0}", ("v1",))),
    calls=(
        Call((*fresh(X, 0), *fresh(Y, 1, grad=True))),
        Call((*OVERLAPPING, *fresh(Y, 1)), later=(CodeLine("{0}.add_(1)", ("outputs[1]",)),)),
    ),
    container="nested",
)


def _clones_views(gm: torch.fx.GraphModule, inputs: list) -> object:
    """Returns fresh memory for everything."""
    return lambda *arguments: [each.clone() for each in gm.forward(*arguments)]


def _drops_writes(gm: torch.fx.GraphModule, inputs: list) -> object:
    """Runs on copies, as if no argument could be written."""
    return lambda *arguments: gm.forward(*(argument.clone() for argument in arguments))


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> str:
    monkeypatch.setitem(backends.BACKENDS, "planted", request.param)
    return "planted"


@pytest.mark.parametrize(
    ("planted", "family", "lines"),
    [(_clones_views, "alias", 1), (_drops_writes, "version", 1)],
    indirect=["planted"],
)
def test_minimal_program(planted: str, family: str, lines: int) -> None:
    """Catches a minimiser that stops early, or wanders off to a program that does not fail that way."""
    fails = shows(family, planted)
    assert fails(PROGRAM)
    smallest = minimise(PROGRAM, fails)
    assert fails(smallest)
    assert not shows(family, "eager-check")(smallest)
    assert len(list(code_lines(smallest.body))) <= lines, render(smallest)
    assert len(smallest.calls) == len(smallest.parameters) == 1, render(smallest)
    assert all(len(call.inputs) == 1 and not call.later for call in smallest.calls), render(smallest)


@pytest.mark.parametrize("planted", [_clones_views], indirect=True)
def test_limit_is_kept(planted: str) -> None:
    """Catches a minimiser that runs for hours on a program that compiles slowly."""
    tried = []

    def fails(program: Program) -> bool:
        tried.append(program)
        return True

    minimise(PROGRAM, fails, limit=5)
    assert len(tried) == 5


def test_program_that_cannot_be_run_shows_nothing() -> None:
    """Catches a 'smaller' program that only fails because its arguments can't be made."""
    broken = Program((X,), (), (CodeLine("{0}", ("x0",)),), (Call((CodeLine("no_such_name", (), ("x0",)),)),))
    assert not shows("raised", "eager-check")(broken)


def test_script_runs_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a reported script that needs the session it came from."""
    path = tmp_path / "script.py"
    path.write_text(script(PROGRAM, "eager-check"), encoding="utf-8")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.strip() == "same"


def test_equal_worlds_are_the_same() -> None:
    """Catches a check that finds differences where there is none, or compares nothing."""
    assert check(PROGRAM, "eager-check").status == "same"
