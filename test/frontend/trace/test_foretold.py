"""PyTorch traces a graph once, and sees what it returns without running it a second time."""

import pytest
import torch
from torch.nn import functional

import dovetail
from dovetail.errors import UnsupportedError
from dovetail.frontend import capture as captures
from dovetail.frontend.capture import capture
from dovetail.frontend.observe import op_calls
from dovetail.frontend.trace import foretold
from dovetail.frontend.trace.alias_free import AliasFree


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Grows by one with each run of a graph for PyTorch."""
    seen: list[None] = []
    forward = AliasFree.forward

    def counted(self, *primals):
        seen.append(None)
        return forward(self, *primals)

    monkeypatch.setattr(AliasFree, "forward", counted)
    return seen


def update(x, y):
    z = x * 3
    y.add_(1)
    return (z + y).t(), y[1:], z.sum()


@pytest.mark.parametrize("requires_grad", [True, False])
def test_one_run_for_each_graph(runs: list[None], requires_grad: bool):
    """Would catch a graph that PyTorch runs to see its results, too, which is a third of what capture costs."""
    with torch.set_grad_enabled(requires_grad):
        capture(torch.fx.symbolic_trace(update), [torch.rand(3, 3, requires_grad=requires_grad), torch.rand(3, 3)])
    assert len(runs) == 1


def test_what_is_told_wrongly_is_run(runs: list[None], monkeypatch: pytest.MonkeyPatch):
    """Would catch a graph that is traced as one with other results, after the eager run saw other strides."""
    graph = torch.fx.symbolic_trace(lambda x: (x * 2).t())
    inputs = [torch.rand(3, 4, requires_grad=True)]
    right = capture(graph, inputs)
    runs.clear()
    monkeypatch.setattr(foretold, "_look_alike", lambda leaving, function: torch.ones(5, 4, 3))
    captured = capture(graph, inputs)
    assert len(runs) == 3  # the one that shows it, and PyTorch's two
    assert captured.traced_anew == ("PyTorch can't trace it: ToldWrong: ",)
    assert not right.traced_anew
    assert str(captured.graph) == str(right.graph)


def test_a_write_that_no_schema_tells_is_refused(monkeypatch: pytest.MonkeyPatch):
    """Would catch a write that only tracing sees, lost since PyTorch does not look for it."""
    monkeypatch.setattr(op_calls, "_unmarked", lambda call: [])
    graph = torch.fx.symbolic_trace(lambda x, mean, var: functional.batch_norm(x, mean, var, training=True))
    with torch.no_grad(), pytest.raises(UnsupportedError, match="argument mean: is mutated by an op that doesn't say"):
        capture(graph, [torch.rand(4, 3), torch.zeros(3), torch.ones(3)])


def test_a_graph_that_stops_midway_leaves_nothing_switched(monkeypatch: pytest.MonkeyPatch):
    """Would catch a graph traced for the second time inside of the autocast that it entered before it failed."""

    def fails(*arguments):
        torch._C._set_grad_enabled(False)
        torch.set_autocast_enabled("cpu", True)
        torch._C._functorch._vmap_increment_nesting(2, "error")
        raise KeyError

    monkeypatch.setattr(foretold, "_described", fails)
    graph = torch.fx.symbolic_trace(lambda x: x @ x)
    captured = capture(graph, [torch.rand(3, 3, requires_grad=True)])
    assert captured.owned[0].node.meta["val"].dtype == torch.float32
    assert captured.tangents
    assert torch.is_grad_enabled()
    assert not torch.is_autocast_enabled("cpu")


def test_a_defect_is_none_of_what_was_told(monkeypatch: pytest.MonkeyPatch):
    """Would catch an error of the compiler's own that only costs each capture a third of its time, and nobody sees."""

    def fails(*arguments):
        raise RuntimeError("a defect")

    monkeypatch.setattr(captures, "branch_gradients", fails)
    with pytest.raises(RuntimeError, match="a defect"):
        capture(torch.fx.symbolic_trace(lambda x: x * 2), [torch.rand(3)])


def test_second_runs_are_counted(monkeypatch: pytest.MonkeyPatch, op_by_op):
    """Would catch graphs that cost a third more to capture, told by nothing."""
    monkeypatch.setattr(foretold, "_look_alike", lambda leaving, function: torch.ones(5, 4, 3))
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    torch.compile(lambda x: x * 2, backend="dovetail")(torch.rand(3))
    assert dovetail.stats().traced_anew == {"PyTorch can't trace it: ToldWrong: ": 1}
    assert "traced in two runs" in str(dovetail.stats())
