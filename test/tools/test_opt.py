"""`dovetail-opt --run-check` against passes that are wrong."""

from pathlib import Path

import pytest
from torch_mlir import ir

from dovetail.dialects.dovetail import OwnOp, WriteOp
from dovetail.dialects.reading import Module, body
from dovetail.passes.base import Pass
from dovetail.runtime.reference import executor
from dovetail.tools.opt.command import main

MODULE = """
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  %1 = torch.aten.exp %0 : !v -> !v
  "dovetail.write"(%1, %x) {mode = "no_grad"} : (!v, !r) -> ()
  %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
  return %o : !r
}
"""


def _read(module: ir.Module) -> ir.Value:
    return body(Module(module).joint)[0].results[0]


class _ReturnsTheInputPass(Pass, name="test-returns-the-input"):
    """Returns `x` for `exp(x)`."""

    def run(self, module: ir.Module) -> None:
        for op in body(Module(module).joint):
            if isinstance(op.opview, OwnOp):
                op.operands[0] = _read(module)


class _DropsAWritePass(Pass, name="test-drops-a-write"):
    """Forgets that the user's tensor is mutated."""

    def run(self, module: ir.Module) -> None:
        for op in body(Module(module).joint):
            if isinstance(op.opview, WriteOp):
                op.erase()


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file with a module that mutates its input and returns a value."""
    (tmp_path / "module.mlir").write_text(MODULE)
    return str(tmp_path / "module.mlir")


@pytest.mark.parametrize(
    ("wrong", "where"), [("test-returns-the-input", "results[0]"), ("test-drops-a-write", "arguments[0]")]
)
def test_wrong_pass_is_named_with_what_it_changed(path: str, wrong: str, where: str, capsys: pytest.CaptureFixture):
    """Would catch a check that compares nothing, or that blames a pass which ran before or after."""
    assert main([path, "--run-check", f"--pass-pipeline=merge-equal-values,{wrong},merge-equal-values"]) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith(f"dovetail-opt: pass '{wrong}' changed what the module does:\n  {where}: ")
    assert captured.out == ""


SQUARE = """
!v = !torch.vtensor<[64],si8>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  %1 = torch.aten.mul.Tensor %0, %0 : !v, !v -> !v
  %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
  return %o : !r
}
"""
GATHER = """
!v = !torch.vtensor<[4],f32>
!i = !torch.vtensor<[64],si64>
!o = !torch.vtensor<[64],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!ri = !dovetail.ref<!i, strided<[1]>>
!ro = !dovetail.ref<!o, strided<[1]>>
func.func @joint(%x: !r, %i: !ri) -> !ro attributes {dovetail.role = "joint"} {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  %1 = "dovetail.read"(%i) : (!ri) -> !i
  %list = torch.prim.ListConstruct %1 : (!i) -> !torch.list<vtensor>
  %2 = torch.aten.index.Tensor %0, %list : !v, !torch.list<vtensor> -> !o
  %o = "dovetail.own"(%2) {requires_grad = false} : (!o) -> !ro
  return %o : !ro
}
"""


def test_overflow_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch a check whose whole numbers are 0 and 1 alone, of which each is its own square."""
    (tmp_path / "square.mlir").write_text(SQUARE)
    assert main([str(tmp_path / "square.mlir"), "--run-check", "--seed=5", "--test-returns-the-input"]) == 1
    captured = capsys.readouterr()
    assert "pass 'test-returns-the-input' changed what the module does:\n  results[0]: " in captured.err
    assert "\n  on the random inputs of --seed=6" in captured.err


def test_an_index_stays_in_range(tmp_path: Path, capsys: pytest.CaptureFixture):
    """Would catch large numbers for what a list of indices holds, which ATen refuses."""
    (tmp_path / "gather.mlir").write_text(GATHER)
    assert main([str(tmp_path / "gather.mlir"), "--run-check", "--merge-equal-values"]) == 0
    assert capsys.readouterr().err == (
        "run-check: compared 1 results, 2 arguments, 0 gradients (132 numbers) after 1 passes, on seeds 0, 1\n"
    )


def test_wrong_pass_is_not_noticed_unasked(path: str, capsys: pytest.CaptureFixture):
    """Would catch a check, which takes seconds, that runs when nobody asked for it."""
    assert main([path, "--pass-pipeline=test-drops-a-write"]) == 0
    assert "dovetail.write" not in capsys.readouterr().out


def test_traceback_is_shown_when_asked(path: str):
    """Would catch `--traceback` that still hides where an error came from."""
    with pytest.raises(Exception, match="unknown pass 'nope'"):
        main([path, "--pass-pipeline=nope", "--traceback"])


class _MisspellsPass(Pass, name="test-misspells"):
    """Gives a read an attribute that it can't have, or takes it away again."""

    def run(self, module: ir.Module) -> None:
        attributes = _read(module).owner.attributes
        if "colour" in attributes:
            del attributes["colour"]
        else:
            attributes["colour"] = ir.StringAttr.get("red")


def test_invalid_ir_between_passes_is_allowed_only_when_asked(path: str, capsys: pytest.CaptureFixture):
    """Would catch `--verify-each=false` that changes nothing, or that lets invalid IR out."""
    twice = "--pass-pipeline=test-misspells,test-misspells"
    assert main([path, twice, "--verify-each=false"]) == 0
    assert main([path, twice]) == main([path, twice, "--verify-each=true"]) == 1
    assert "pass 'test-misspells' failed: Verification failed:" in capsys.readouterr().err
    assert main([path, "--test-misspells", "--verify-each=false"]) == 1
    assert capsys.readouterr().err == (
        "dovetail-opt: one of the passes left invalid IR, --verify-each=true names it: Verification failed:\n"
        f"error: \"{path}\":5:8: 'dovetail.read' op has no attribute 'colour', expected none\n"
    )


def test_runs_again_only_what_has_changed(path: str, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    """Would catch minutes spent on the passes that leave a model as it is, which are more than half."""
    runs = []

    def run(*arguments: object) -> executor.Observation:
        runs.append(arguments)
        return run_reference(*arguments)

    run_reference = executor.run_reference
    monkeypatch.setattr(executor, "run_reference", run)
    passes = "forward-stores,merge-equal-values,fold-scatters,drop-redundant-copies"
    assert main([path, "--run-check", f"--pass-pipeline={passes}"]) == 0
    assert len(runs) == 2
    assert "after 4 passes" in capsys.readouterr().err
