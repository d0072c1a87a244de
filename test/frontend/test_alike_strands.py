"""What is alike in a graph is traced once, and nothing shows it."""

from collections.abc import Callable

import pytest
import torch

from dovetail.frontend import capture as capturing
from dovetail.frontend.alike_strands import alike_strands

Update = Callable[..., None]


def updated(a, b, c, d, e, f):
    """Three tensors by one each; the first and the last are alike, with what they take in another order."""
    a.mul_(0.5).add_(d, alpha=2)
    b.sub_(e)
    b.mul_(b + 1)
    f.mul_(0.5).add_(c, alpha=2)


def drawn(a, b, c):
    first, second, third = torch.rand_like(c), torch.rand_like(a), torch.rand_like(b)
    a.add_(second)
    b.add_(third)
    c.add_(first)


def tensors(count: int) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.rand(3) for _ in range(count)]


def traced(function: Update) -> torch.fx.GraphModule:
    """The graph of a function, which returns nothing where that does, as Dynamo's do."""
    gm = torch.fx.symbolic_trace(function)
    output = gm.graph.output_node()
    output.args = (tuple(output.all_input_nodes),)
    return gm


def run(function: Update, given: list[torch.Tensor]) -> list[torch.Tensor]:
    torch.manual_seed(1)
    with torch.no_grad():
        function(*given)
    return given


@pytest.mark.parametrize(("update", "count"), [(updated, 6), (drawn, 3)])
def test_each_tensor_gets_its_own_value(op_by_op, update: Update, count: int):
    """Would catch a strand that reads or writes the tensors of the one that it is like, or draws its random numbers."""
    compiled = torch.compile(update, backend="dovetail", options={"strict": True}, fullgraph=True)
    for _ in range(2):
        expected, found = run(update, tensors(count)), run(compiled, tensors(count))
        assert all(map(torch.equal, found, expected))


def test_alike_strands_are_traced_once(monkeypatch):
    """Would catch a graph that is traced as a whole, and a capture that says other things than that of the whole."""
    graph, given = traced(updated), tensors(6)
    with torch.no_grad():
        found = alike_strands(graph, given)
        assert found is not None
        assert [strand.arguments for strand in found.strands] == [(0, 3), (1, 4), (5, 2)]
        assert list(found.models) == [0, 1, 0]
        joined = capturing.capture(graph, given)
        monkeypatch.setattr(capturing, "alike_strands", lambda *_: None)
        whole = capturing.capture(graph, given)
    for one, other in zip(joined.inputs, whole.inputs, strict=True):
        assert (one.name, one.mutation, one.position) == (other.name, other.mutation, other.position)
        assert (one.mutated_value is None) == (other.mutated_value is None)
    assert (joined.frees, joined.convention, joined.once) == (whole.frees, whole.convention, whole.once)
    assert len(joined.graph.nodes) == len(whole.graph.nodes)


def doubled(a, b):
    a.mul_(2)
    b.mul_(2)


def grown(a, b):
    a.mul_(2)
    b.mul_(2)
    return a + 1


def unlike(a, b):
    a.mul_(2)
    b.mul_(3)


@pytest.mark.parametrize("function", [grown, unlike])
def test_other_graphs_are_not_taken_apart(function: Update):
    """Would catch strands of a graph that returns a value, or has none that are alike."""
    with torch.no_grad():
        assert alike_strands(traced(function), tensors(2)) is None


def test_a_mode_ties_strands():
    """Would catch a switch of autograd that is left out, or moved between strands."""
    gm = traced(doubled)
    with torch.no_grad():
        assert alike_strands(gm, tensors(2)) is not None
        with gm.graph.inserting_before(gm.graph.output_node()):
            gm.graph.call_function(torch._C._set_grad_enabled, (True,))
        assert alike_strands(gm, tensors(2)) is None


def test_strands_that_share_memory_are_not_taken_apart():
    """Would catch two updates of one tensor's memory that are taken for updates of two."""
    graph = traced(doubled)
    [whole] = tensors(1)
    with torch.no_grad():
        assert alike_strands(graph, [whole, torch.rand(3)]) is not None
        assert alike_strands(graph, [whole, whole]) is None
        assert alike_strands(graph, [whole[:2], whole[1:]]) is None
    assert alike_strands(graph, [whole, torch.rand(3)]) is None  # autograd may follow
