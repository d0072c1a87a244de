"""What a compiled call keeps shows as a difference, memory or a node of autograd's graph; what state keeps does not."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from dovetail.tools.fuzz import backends
from dovetail.tools.fuzz.check import check
from dovetail.tools.fuzz.leaks import NODE, watched
from dovetail.tools.fuzz.program import Call, CodeLine, Parameter, Program

KEPT: list = []  # by backends that leak


def program(backward: str = "once") -> Program:
    """Three calls, of arguments of their own."""
    leaf = CodeLine("torch.arange(3.0).requires_grad_()", (), ("b_x0",))
    inputs = (leaf, CodeLine("{0} * 1", ("b_x0",), ("x0",)))
    body = (CodeLine("{0}.sin()", ("x0",), ("v0",)),)
    calls = (Call(inputs, backward=backward),) * 3
    return Program((Parameter("x0", (3,), "torch.float32"),), body, (CodeLine("{0}", ("v0",)),), calls, "single")


def keeps_arguments(gm: torch.fx.GraphModule, _: list) -> Callable:
    """Of no tensor, but of an alias: its memory."""

    def call(*arguments):
        KEPT.append([each.detach() for each in arguments])
        return gm.forward(*arguments)

    return call


class Kept(torch.autograd.Function):
    """Leads to itself by what it saved, as a call did that kept an argument which it wrote."""

    @staticmethod
    def forward(ctx, x):
        ctx.itself = KEPT
        KEPT.append(ctx)
        return x.sin()

    @staticmethod
    def backward(ctx, grad):
        return grad


def keeps_its_node(gm: torch.fx.GraphModule, _: list) -> Callable:
    return lambda *arguments: (Kept.apply(arguments[0]),)


@pytest.fixture(autouse=True)
def nothing_kept():
    yield
    KEPT.clear()


@pytest.mark.parametrize("backward", ["once", "none"])
@pytest.mark.parametrize(("backend", "what"), [(keeps_arguments, "x0"), (keeps_its_node, NODE)])
def test_what_is_kept_is_found(monkeypatch: pytest.MonkeyPatch, backend: Callable, what: str, backward: str) -> None:
    """Catches a fuzzer that is silent about training which runs out of memory."""
    monkeypatch.setitem(backends.BACKENDS, "planted", backend)
    found = {(each.kind, each.what) for each in check(program(backward), "planted").found}
    assert ("leak", what) in found
    assert check(program(backward), "dovetail").status == "same"


def test_what_state_keeps_is_no_leak() -> None:
    """Catches a buffer that is returned, or whose history goes on, as a leak of every call that meets it."""
    state = torch.zeros(3)
    assert watched({"x": state.view(-1)}, [state]).alive() == ()
    history = torch.ones(3, requires_grad=True) * 1
    assert watched({"x": history}, [state + history]).alive() == ()
    assert watched({"x": history}, [state]).alive() == ("x",)


def test_histories_that_may_not_be_asked_for() -> None:
    """Catches a program that ends in an error of the fuzzer's own: such a view says nothing of its history."""
    base = torch.ones(4, requires_grad=True) * 1
    with torch.no_grad():
        view = base[:2]
    base.add_(1)
    with pytest.raises(RuntimeError):
        _ = view.grad_fn
    assert watched({"x": view}, []).alive() == ("x",)


def test_what_a_failed_backward_holds_is_no_leak() -> None:
    """Catches a difference where PyTorch keeps the history of the last backward that raised, eager's as well."""
    # Of two results, since what waits for its turn is held.
    cosine, write = CodeLine("{0}.cos()", ("x0",), ("v1",)), CodeLine("{0}.mul_(2)", ("x0",))
    results = (*program().results, CodeLine("{0}", ("v1",)))
    failing = replace(program(), body=(*program().body, cosine, write), results=results, container="tuple")
    assert check(failing, "dovetail").status == "same"


def test_eagers_own_leaks_are_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a difference where eager keeps what it should not, too."""
    monkeypatch.setitem(backends.BACKENDS, "planted", keeps_arguments)
    eager = CodeLine("keep.append({0})", ("x0",))
    kept = replace(program(), body=(eager, *program().body), captured=(CodeLine("[]", (), ("keep",)),))
    assert "leak" not in {each.kind for each in check(kept, "planted").found}
