"""`dovetail-opt --run-check` against passes that are wrong."""

from dataclasses import dataclass
from pathlib import Path

import pytest
from torch_mlir import ir

from dovetail.dialects.dovetail import OwnOp, WriteOp
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.cloning import body, function
from dovetail.tools.opt.command import main

MODULE = """
!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
func.func @joint(%x: !r) -> !r {
  %0 = "dovetail.read"(%x) : (!r) -> !v
  %1 = torch.aten.exp %0 : !v -> !v
  "dovetail.write"(%1, %x) {mode = "no_grad"} : (!v, !r) -> ()
  %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
  return %o : !r
}
"""


def _read(module: ir.Module) -> ir.Value:
    return body(function(module, "joint"))[0].results[0]


@dataclass(frozen=True)
class _ReturnsTheInputPass(Pass, name="test-returns-the-input"):
    """Returns `x` for `exp(x)`."""

    def run(self, module: ir.Module) -> None:
        for op in body(function(module, "joint")):
            if isinstance(op.opview, OwnOp):
                op.operands[0] = _read(module)


@dataclass(frozen=True)
class _DropsAWritePass(Pass, name="test-drops-a-write"):
    """Forgets that the user's tensor is mutated."""

    def run(self, module: ir.Module) -> None:
        for op in body(function(module, "joint")):
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


def test_wrong_pass_is_not_noticed_unasked(path: str, capsys: pytest.CaptureFixture):
    """Would catch a check, which takes seconds, that runs when nobody asked for it."""
    assert main([path, "--pass-pipeline=test-drops-a-write"]) == 0
    assert "dovetail.write" not in capsys.readouterr().out


def test_traceback_is_shown_when_asked(path: str):
    """Would catch `--traceback` that still hides where an error came from."""
    with pytest.raises(Exception, match="unknown pass 'nope'"):
        main([path, "--pass-pipeline=nope", "--traceback"])


@dataclass(frozen=True)
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
