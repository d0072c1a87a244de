"""What the runner leaves behind: dumps, seconds, and the evidence when a pass fails."""

import shlex
import tempfile

import pytest
from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_file, parse_module
from dovetail.errors import PassError
from dovetail.passes.base import Pass
from dovetail.passes.pipeline import compile_pipeline
from dovetail.passes.regions.inline_regions import InlineRegionsPass
from dovetail.passes.running.parse import parse_pipeline
from dovetail.passes.running.runner import Runner
from dovetail.tools.opt.command import main as opt

MODULE = """
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 : !v -> !v loc("model.py":7:0)
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
"""


class _RaisesPass(Pass, name="test-raises"):
    """Fails as a bug would."""

    def run(self, module: ir.Module) -> None:
        raise IndexError("list index out of range")


class _BreaksPass(Pass, name="test-breaks"):
    """Leaves a write with a mode that doesn't exist."""

    def run(self, module: ir.Module) -> None:
        read = module.body.operations[0].body.blocks[0].operations[0]
        read.operation.attributes["colour"] = ir.StringAttr.get("red")


def _run(pipeline: str, runner: Runner) -> None:
    context = make_context()
    runner.run(parse_pipeline(pipeline, context), parse_module(MODULE, context))


@pytest.mark.parametrize("target", ["cpu", "cuda:sm_90"])
def test_what_is_not_verified_again_did_not_change(target):
    """Would catch a pass that says it left the module as it was, after which nothing is verified, and changed it."""
    module, unchanged = parse_module(MODULE, make_context()), []
    module.operation.attributes["dovetail.target"] = ir.StringAttr.get(target, module.context)
    for each in compile_pipeline():
        before = str(module)
        with module.context, ir.Location.unknown():
            if each.run(module) is False:
                unchanged.append(each.name)
                assert str(module) == before, each.name
    assert {"verify-level", "verify-comparisons", "verify-memory", "fold-scatters"} <= {*unchanged}


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


def test_failure_names_pass_location_and_command(tmp_path, capsys):
    """Would catch a message that does not say where, or a printed command that does not reproduce the failure."""
    with pytest.raises(PassError) as caught:
        _run("merge-equal-values,drop-redundant-copies,verify-level{level=split},partition", Runner(dump=tmp_path))
    message, _, command = str(caught.value).partition("\nreproduce with: ")
    assert message.startswith("pass 'verify-level{level=split}' failed: loc(")
    assert "'builtin.module' op expects 'dovetail.level' to be \"split\", got \"joint\"" in message
    program, *arguments = shlex.split(command)
    assert program == "dovetail-opt"
    assert arguments[0] == str(tmp_path / "02_drop-redundant-copies.mlir")
    assert opt(arguments) == 1
    assert '\'dovetail.level\' to be "split", got "joint"' in capsys.readouterr().err


def test_command_survives_any_option_value(tmp_path):
    """Would catch a reason with spaces, quotes, brackets or commas that makes the printed command unreadable."""
    failing = InlineRegionsPass("r", "it said 'no (a, {b}', \"c\"\n")
    context = make_context()
    with pytest.raises(PassError) as caught:
        Runner(dump=tmp_path).run((failing,), parse_module(MODULE, context))
    *_, pipeline = shlex.split(str(caught.value).partition("reproduce with: ")[2])
    assert parse_pipeline(pipeline.removeprefix("--pass-pipeline="), context) == (failing,)


def test_failure_without_dump_leaves_a_file_and_the_command(tmp_path, monkeypatch, capsys):
    """Would catch a failure that nobody can show again because `DOVETAIL_DUMP` was not set, or lines that are lost."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(PassError) as caught:
        _run("merge-equal-values,verify-level{level=split},partition", Runner())
    [path] = tmp_path.iterdir()
    assert str(caught.value) == (
        "pass 'verify-level{level=split}' failed: loc(\"-\":4:1): 'builtin.module' op expects 'dovetail.level' to be"
        ' "split", got "joint"\n'
        f"reproduce with: dovetail-opt {path} --pass-pipeline='merge-equal-values,verify-level{{level=split}}'"
    )
    assert 'loc("model.py":7:0)' in path.read_text()
    arguments = shlex.split(str(caught.value).partition("reproduce with: ")[2])[1:]
    assert opt(arguments) == 1
    assert '\'dovetail.level\' to be "split", got "joint"' in capsys.readouterr().err


def test_command_starts_from_the_module_as_it_came_in(tmp_path, monkeypatch):
    """Would catch evidence that the failing pass, or one before it, has already rewritten."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(PassError, match=r"--pass-pipeline=partition,test-raises$"):
        _run("partition,test-raises", Runner())
    [path] = tmp_path.iterdir()
    assert str(parse_file(path, make_context())) == str(parse_module(MODULE, make_context()))


def test_evidence_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    """Would catch a full disk that hides why the pass failed."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(PassError) as caught:
        _run("test-raises", Runner())
    assert str(caught.value) == (
        "pass 'test-raises' failed: IndexError: list index out of range\n"
        "reproduce with: dovetail-opt - --pass-pipeline=test-raises  # the module could not be written: No such file or"
        " directory"
    )


def test_no_evidence_where_none_is_wanted(tmp_path, monkeypatch):
    """Would catch a file for each error that a test expects."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(PassError) as caught:
        _run("test-raises", Runner(leaves_evidence=False))
    assert str(caught.value) == "pass 'test-raises' failed: IndexError: list index out of range"
    assert not list(tmp_path.iterdir())


def test_success_leaves_no_file(tmp_path, monkeypatch):
    """Would catch evidence that is written before anything failed: text of each module that is compiled."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    _run("partition", Runner())
    assert not list(tmp_path.iterdir())


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


def test_invalid_ir_is_found_at_the_end_without_verification_of_each():
    """Would catch `verify_each=False` that verifies nothing at all, or that still blames the pass at once."""
    with pytest.raises(PassError) as caught:
        _run("test-breaks,merge-equal-values", Runner(verify_each=False))
    assert str(caught.value) == (
        "one of the passes left invalid IR, --verify-each=true names it: Verification failed:\n"
        "error: \"-\":6:10: 'dovetail.read' op has no attribute 'colour', expected none"
    )


def test_watchers_see_each_pass_and_seconds_add_up():
    """Would catch a check, such as `--run-check`, that is not told of a pass, and a pass that nobody times."""
    seen = []
    runner = Runner(
        before=lambda runs, module: seen.append(f"before {runs}"), after=lambda ran, module: seen.append(f"after {ran}")
    )
    _run("verify-level,partition{algorithm=default}", runner)
    partition = "partition{algorithm=default}"
    assert seen == ["before verify-level", "after verify-level", f"before {partition}", f"after {partition}"]
    assert set(runner.seconds) == {"verify-level", "partition"}
