"""The examples of docs/commands.md run, on the function that it shows."""

import contextlib
import re
import runpy
import shlex
from pathlib import Path

import numpy
import pytest

from dovetail.tools import compile as dovetail_compile
from dovetail.tools.opt.command import main as opt
from dovetail.tools.run.command import main as run

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "commands.md").read_text(encoding="utf-8")
COMMANDS = {"dovetail-opt": opt, "dovetail-compile": dovetail_compile.main, "dovetail-run": run}
EXAMPLES = [
    shlex.split(line, comments=True)
    for block in re.findall(r"```bash\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the shown function's script leaves, and with what the examples call MODULE and ARTIFACT."""
    path = tmp_path_factory.mktemp("commands")
    [script] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    (path / "scale.py").write_text(script)
    with contextlib.chdir(path), pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOVETAIL_DUMP", "dump")
        runpy.run_path("scale.py", run_name="__main__")
    [module] = path.glob("dump/graph_*/00_input.mlir")  # numbered in the process, which other tests share
    module.rename(path / "MODULE")
    assert dovetail_compile.main([str(path / "MODULE"), "-o", str(path / "ARTIFACT")]) == 0
    return path


@pytest.mark.parametrize("example", EXAMPLES, ids=" ".join)
def test_example_runs(example: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch):
    """A reader copies a line, and is told that an option or an input is wrong."""
    monkeypatch.chdir(folder)
    assert COMMANDS[example[0]](example[1:]) == 0


def test_inputs_are_as_said(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    """The inputs are listed in another way than shown, or come in another order than the examples give them."""
    monkeypatch.chdir(folder)
    assert run(["ARTIFACT", "--input=1"]) == 1
    assert capsys.readouterr().err == (
        "dovetail-run: expected 2 inputs, got 1:\n  input 0 (L['x']): 2x3xf32\n  input 1 (L['weight']): 3xf32\n"
    )
    numpy.testing.assert_array_equal(numpy.load("x.npy"), numpy.arange(6, dtype=numpy.float32).reshape(2, 3))


def test_expected_error_is_met(tmp_path: Path):
    """The module that shows how errors are expected does not parse, or fails with another error."""
    [module] = re.findall(r"```mlir\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "module.mlir").write_text(module)
    assert opt([str(tmp_path / "module.mlir"), "--verify-diagnostics"]) == 0
    assert opt([str(tmp_path / "module.mlir")]) == 1
