"""What the runner leaves behind: dumps, seconds, and the evidence when a pass fails."""

import shlex
import subprocess
import sys
from dataclasses import dataclass

import pytest
from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_file, parse_module
from dovetail.errors import PassError
from dovetail.passes.base import Pass
from dovetail.passes.inline_regions import InlineRegionsPass
from dovetail.passes.parse import parse_pipeline
from dovetail.passes.runner import Runner

MODULE = """
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v loc("model.py":7:0)
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
"""


@dataclass(frozen=True)
class _RaisesPass(Pass, name="test-raises"):
    """Fails as a bug would."""

    def run(self, module: ir.Module) -> None:
        raise IndexError("list index out of range")


@dataclass(frozen=True)
class _BreaksPass(Pass, name="test-breaks"):
    """Leaves a write with a mode that doesn't exist."""

    def run(self, module: ir.Module) -> None:
        read = module.body.operations[0].body.blocks[0].operations[0]
        read.operation.attributes["colour"] = ir.StringAttr.get("red")


def _run(pipeline: str, runner: Runner) -> None:
    context = make_context()
    runner.run(parse_pipeline(pipeline, context), parse_module(MODULE, context))


def test_dump_holds_every_stage(tmp_path):
    """Would catch a stage without a file, files out of order, or a second run that overwrites the first's."""
    runner = Runner(dump=tmp_path)
    _run("merge-equal-values,func.func(cse),partition", runner)
    _run("verify-level", runner)
    names = [
        "00_input.mlir",
        "01_merge-equal-values.mlir",
        "02_func.func(cse).mlir",
        "03_partition.mlir",
        "04_input.mlir",
        "05_verify-level.mlir",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_dump_keeps_the_users_lines(tmp_path):
    """Would catch a dump without locations: an error met in a replay could not name the user's line."""
    _run("partition", Runner(dump=tmp_path))
    assert 'loc("model.py":7:0)' in (tmp_path / "01_partition.mlir").read_text()
    parse_file(tmp_path / "01_partition.mlir", make_context())


def test_failure_names_pass_location_and_command(tmp_path):
    """Would catch a message that does not say where, or a printed command that does not reproduce the failure."""
    with pytest.raises(PassError) as caught:
        _run("merge-equal-values,drop-redundant-copies,verify-level{level=split},partition", Runner(dump=tmp_path))
    message, _, command = str(caught.value).partition("\nreproduce with: ")
    assert message.startswith("pass 'verify-level{level=split}' failed: loc(")
    assert "'builtin.module' op expects 'dovetail.level' to be \"split\", got \"joint\"" in message
    program, *arguments = shlex.split(command)
    assert program == "dovetail-opt"
    assert arguments[0] == str(tmp_path / "02_drop-redundant-copies.mlir")
    replayed = subprocess.run(
        [sys.executable, "-m", "dovetail.tools.opt", *arguments], capture_output=True, text=True, check=False
    )
    assert replayed.returncode == 1
    assert '\'dovetail.level\' to be "split", got "joint"' in replayed.stderr


def test_command_survives_any_option_value(tmp_path):
    """Would catch a reason with spaces, quotes, brackets or commas that makes the printed command unreadable."""
    failing = InlineRegionsPass("r", "it said 'no (a, {b}', \"c\"\n")
    context = make_context()
    with pytest.raises(PassError) as caught:
        Runner(dump=tmp_path).run((failing,), parse_module(MODULE, context))
    *_, pipeline = shlex.split(str(caught.value).partition("reproduce with: ")[2])
    assert parse_pipeline(pipeline.removeprefix("--pass-pipeline="), context) == (failing,)


def test_failure_without_dump_has_no_command():
    """Would catch a command that names a file which was never written."""
    with pytest.raises(PassError, match=r"^pass 'verify-level\{level=split\}' failed: ") as caught:
        _run("verify-level{level=split}", Runner())
    assert "reproduce" not in str(caught.value)


def test_a_bug_in_a_pass_is_evidence_too(tmp_path):
    """Would catch an unforeseen exception that leaves neither the pass's name nor the command."""
    with pytest.raises(PassError, match="pass 'test-raises' failed: IndexError: list index out of range") as caught:
        _run("test-raises", Runner(dump=tmp_path))
    assert isinstance(caught.value.__cause__, IndexError)
    assert f"dovetail-opt {tmp_path / '00_input.mlir'} --pass-pipeline=test-raises" in str(caught.value)


def test_invalid_ir_is_blamed_on_the_pass_that_left_it():
    """Would catch malformed IR that is noticed only by the next pass."""
    with pytest.raises(PassError, match="pass 'test-breaks' failed: ") as caught:
        _run("test-breaks,merge-equal-values", Runner())
    assert "'dovetail.read' op has no attribute 'colour', expected none" in str(caught.value)


def test_after_sees_each_pass_and_seconds_add_up():
    """Would catch a check, such as `--run-check`, that is not told of a pass, and a pass that nobody times."""
    seen = []
    runner = Runner(after=lambda ran, module: seen.append(str(ran)))
    _run("verify-level,partition{algorithm=default},verify-level{level=split}", runner)
    assert seen == ["verify-level", "partition{algorithm=default}", "verify-level{level=split}"]
    assert set(runner.seconds) == {"verify-level", "partition"}
