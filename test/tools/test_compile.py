"""`dovetail-compile`: modules at any level to artifacts, and what a mistake is told."""

from dataclasses import fields
from pathlib import Path

import pytest
import torch
from modules import TRAINED

from dovetail.options import Options
from dovetail.passes.launches.import_plans import drop_plans
from dovetail.runtime.artifact import load_artifact, load_module
from dovetail.runtime.program import load_program
from dovetail.tools.compile import main
from dovetail.tools.documented_attributes import documented_attributes
from dovetail.tools.opt.command import main as opt


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with a module at level `joint`."""
    (tmp_path / "joint.mlir").write_text(TRAINED)
    return tmp_path / "joint.mlir"


def _result(artifact: Path) -> torch.Tensor:
    program, _ = load_program(*load_artifact(artifact))
    return program([torch.zeros(2, 3, requires_grad=True), torch.full((2, 3), 2.0)])[0]


@pytest.mark.parametrize("level", ["joint", "split", "program", "regions"])
def test_module_at_any_level_is_compiled(level: str, path: Path, tmp_path: Path):
    """Would catch passes that run again on what they have left, or that are left out, and bytecode that is not read."""
    assert opt([str(path), f"--stop-after={level}", "--emit-bytecode", "-o", str(tmp_path / "module")]) == 0
    assert main([str(tmp_path / "module"), "-o", str(tmp_path / "artifact")]) == 0
    torch.testing.assert_close(_result(tmp_path / "artifact"), torch.full((2, 3), 2.0))


def test_module_of_an_artifact_is_compiled_again(path: Path, tmp_path: Path):
    """Would catch plans that are taken along: they name code that the module does not hold."""
    assert main([str(path), "-o", str(tmp_path / "first")]) == 0
    (tmp_path / "module").write_text(str(load_artifact(tmp_path / "first")[0]))
    assert main([str(tmp_path / "module"), "-o", str(tmp_path / "second")]) == 0
    torch.testing.assert_close(_result(tmp_path / "second"), torch.full((2, 3), 2.0))


def test_options_reach_the_passes(path: Path, tmp_path: Path):
    """Would catch an option that is read and forgotten."""
    assert main([str(path), "-o", str(tmp_path / "a"), "--partition=default", "--strict=true", "--timeout=60"]) == 0
    module, _ = load_artifact(tmp_path / "a")
    drop_plans(module)
    saved = str(module)
    assert opt([str(path), "--compile=partition=default", "-o", str(tmp_path / "expected")]) == 0
    assert saved.strip() == (tmp_path / "expected").read_text().strip()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--partition=best"], "option 'partition' expects one of 'min-cut', 'default', got 'best'"),
        (["--strict=yes"], "option 'strict' expects true or false, got 'yes'"),
        (["--timeout=soon"], "option 'timeout' expects float, got 'soon'"),
        (["--timeout=0"], "option 'timeout' expects a number of seconds above 0, got 0.0"),
    ],
)
def test_wrong_option_is_told(path: Path, tmp_path: Path, arguments: list, message: str, capsys: pytest.CaptureFixture):
    """Would catch an option's text that is taken for its value, or an artifact left by a failed run."""
    assert main([str(path), "-o", str(tmp_path / "artifact"), *arguments]) == 1
    assert capsys.readouterr().err == f"dovetail-compile: {message}\n"
    assert not (tmp_path / "artifact").exists()


@pytest.mark.parametrize("level", ["split", "program", "regions"])
@pytest.mark.parametrize(
    ("argument", "name"), [("--memory-budget=0.5", "memory_budget"), ("--partition=min-cut", "partition")]
)
def test_option_that_comes_too_late_is_told(
    level: str, argument: str, name: str, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """Would catch an option that is ignored, since the pass that it is for has run."""
    assert opt([str(path), f"--stop-after={level}", "-o", str(tmp_path / "module")]) == 0
    assert main([str(tmp_path / "module"), "-o", str(tmp_path / "artifact"), argument]) == 1
    assert capsys.readouterr().err == (
        f"dovetail-compile: option '{name}' acts at level 'joint', the module is at level '{level}'\n"
    )
    assert not (tmp_path / "artifact").exists()


def test_target_decides_what_is_compiled_for(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch an option that the module's own word overrules, or that comes when regions are cut already."""
    assert main([str(path), "-o", str(tmp_path / "artifact"), "--target=cuda:sm_90"]) == 0
    text = str(load_module(tmp_path / "artifact"))
    assert 'dovetail.target = "cuda:sm_90"' in text
    assert "workgroup_size = [" in text
    assert opt([str(path), "--stop-after=regions", "-o", str(tmp_path / "module")]) == 0
    assert main([str(tmp_path / "module"), "-o", str(tmp_path / "other"), "--target=cuda:sm_90"]) == 1
    assert main([str(path), "-o", str(tmp_path / "other"), "--target=tpu"]) == 1
    late, wrong = capsys.readouterr().err.splitlines()[-2:]
    assert late == (
        "dovetail-compile: option 'target' acts at level 'joint', the module is at level 'regions' for 'cpu'"
    )
    assert wrong.startswith("dovetail-compile: unsupported device 'tpu'; expected one of: cpu, cuda:sm_80")


def test_help_says_what_each_option_means(capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch):
    """Would catch an option that shows its default alone, or a partition that has to be guessed."""
    monkeypatch.setenv("COLUMNS", "1000")
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = " ".join(capsys.readouterr().out.split())
    kinds = {"strict": "true|false", "partition": "min-cut|default", "memory_budget": "FLOAT"}
    defaults = {"strict": "false", "partition": "min-cut", "memory_budget": "1.0"}
    for name, kind in kinds.items():
        meaning = documented_attributes(Options)[name].removesuffix(".")
        assert f"--{name.replace('_', '-')} {kind} {meaning}; default: {defaults[name]}" in shown
    assert all(documented_attributes(Options)[field.name].removesuffix(".") in shown for field in fields(Options))


def test_artifact_is_no_module(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch an archive that is called wrong UTF-8, by either command that takes modules only."""
    artifact = str(tmp_path / "artifact")
    assert main([str(path), "-o", artifact]) == 0
    capsys.readouterr()
    assert main([artifact, "-o", str(tmp_path / "again")]) == opt([artifact]) == 1
    told = (
        f"{artifact}: expected a module, got an archive; if it is an artifact, its module is what"
        f" `unzip -p {artifact} module.mlir` prints\n"
    )
    assert capsys.readouterr().err == f"dovetail-compile: {told}dovetail-opt: {told}"


def test_full_disk_is_told(path: Path, capsys: pytest.CaptureFixture):
    """Would catch an artifact that is lost, or the input blamed for it."""
    assert main([str(path), "-o", "/dev/full"]) == 1
    assert capsys.readouterr().err == "dovetail-compile: /dev/full: No space left on device\n"


def test_what_cannot_be_compiled_is_told(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch a traceback, or a message that does not name the file."""
    (tmp_path / "bad").write_text("func.func @f(")
    (tmp_path / "none").write_text("func.func private @f()")
    for name in ("missing", "bad", "none"):
        assert main([str(tmp_path / name), "-o", str(tmp_path / "artifact")]) == 1
    assert capsys.readouterr().err == (
        f"dovetail-compile: {tmp_path / 'missing'}: No such file or directory\n"
        "dovetail-compile: Unable to parse module assembly:\n"
        f'error: "{tmp_path / "bad"}":1:13: expected non-function type\n'
        "dovetail-compile: expected a module with 'dovetail.level', as dovetail-opt and DOVETAIL_DUMP write them\n"
    )


def test_where_nothing_can_be_written_is_told(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch an artifact that is lost without a word."""
    assert main([str(path), "-o", str(tmp_path / "missing" / "artifact")]) == 1
    assert capsys.readouterr().err == (
        f"dovetail-compile: {tmp_path / 'missing' / 'artifact'}: No such file or directory\n"
    )
