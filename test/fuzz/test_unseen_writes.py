"""A gradient is not held against compiled code where eager's is of values that its forward never had."""

import pytest

from dovetail.tools.fuzz.check import check
from dovetail.tools.fuzz.program import Call, CodeLine, Parameter, Program

SINE = CodeLine("{0}.sin()", ("x0",), ("v0",))
WRITTEN = CodeLine("{0}.data.mul_(2)", ("x0",))


def program(body: CodeLine, later: CodeLine) -> Program:
    inputs = (CodeLine("torch.arange(3.0).requires_grad_()", (), ("x0",)),)
    return Program(
        (Parameter("x0", (3,), "torch.float32"),),
        (body,),
        (CodeLine("{0}", ("v0",)),),
        (Call(inputs, later=(later,)),),
        "single",
    )


def test_unseen_write() -> None:
    """Catches a difference from a gradient of eager's that is no gradient of what eager computed: it saves both sines'
    operands, of which the write changes one."""
    twice = CodeLine("{0}.sin().sin()", ("x0",), ("v0",))
    assert check(program(twice, WRITTEN), "dovetail").status == "unseen write"


def test_wrong_gradient_stays_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a wrong gradient that passes though what was written through `.data` changed none of eager's."""

    def compiled(fn, backend, *_):
        return fn if backend == "eager-check" else lambda x: fn(x) + (x - x.detach()) * 0.5

    monkeypatch.setattr("dovetail.tools.fuzz.check.compiled", compiled)
    outcome = check(program(SINE, CodeLine("{0}.data.mul_(1)", ("x0",))), "dovetail")
    assert outcome.status == "different"
    assert {each.kind for each in outcome.found} == {"gradient"}
