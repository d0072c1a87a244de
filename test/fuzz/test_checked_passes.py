"""The backend that runs every module before and after each pass."""

import pytest
from torch_mlir import ir

from dovetail.dialects.reading import Module
from dovetail.passes.cleanup.merge_equal_values import MergeEqualValuesPass
from dovetail.tools.fuzz.check import check
from dovetail.tools.fuzz.program import Call, CodeLine, Parameter, Program

INPUTS = (CodeLine("torch.arange(3.0)", (), ("x0",)), CodeLine("torch.ones(3)", (), ("x1",)))
PROGRAM = Program(
    (Parameter("x0", (3,), "torch.float32"), Parameter("x1", (3,), "torch.float32")),
    (CodeLine("{0} - {1}", ("x0", "x1"), ("v0",)),),
    (CodeLine("{0}", ("v0",)),),
    (Call(INPUTS, backward="none"),),
    "single",
)


def swap_operands(_: MergeEqualValuesPass, module: ir.Module) -> None:
    for op in (op for ops in Module(module).bodies.values() for op in ops):
        if op.name == "torch.aten.sub.Tensor":
            op.operands[0], op.operands[1] = op.operands[1], op.operands[0]


def test_pass_that_changes_a_module_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a check that does not run, or a wrong pass that passes since the user's graph then runs eagerly."""
    outcome = check(PROGRAM, "run-check")
    assert (outcome.status, outcome.checks) == ("same", {True: 1})
    monkeypatch.setattr(MergeEqualValuesPass, "run", swap_operands)
    outcome = check(PROGRAM, "run-check")
    assert outcome.status == "different"
    assert "pass 'merge-equal-values' changed what the module does" in outcome.found[0].compiled
