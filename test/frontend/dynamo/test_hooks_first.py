"""Dynamo's guard on hooks of saved tensors asks whether there are any before it compares them."""

import pytest
import torch
from torch._dynamo.utils import counters
from torch.autograd.graph import saved_tensors_hooks

pytestmark = pytest.mark.usefixtures("op_by_op")


def graph_of(function) -> torch.fx.GraphModule:
    return torch.fx.symbolic_trace(function)


@pytest.mark.parametrize("backend", ["dovetail", "eager"])
def test_hooks_that_graphs_stand_for_are_guarded_on(backend: str):
    """Would catch a guard that holds whatever hooks a call is in, or breaks for hooks that no graph stands for."""
    double, halve = graph_of(lambda x: x * 2), graph_of(lambda x: x / 2)

    def graphs_after(*hooks) -> int:
        with saved_tensors_hooks(*hooks):
            compiled(torch.ones(2, requires_grad=True))
        return counters["stats"]["unique_graphs"]

    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(lambda x: x.sin(), backend=backend)
    compiled(torch.ones(2, requires_grad=True))
    assert graphs_after(lambda x: x, lambda x: x) == 1
    assert graphs_after(double, halve) == 2
    assert graphs_after(halve, double) == 3
    compiled(torch.ones(2, requires_grad=True))
    assert counters["stats"]["unique_graphs"] == 3


def test_a_program_made_inside_of_hooks_is_not_for_calls_outside():
    """Would catch a guard that holds without hooks where the program was made with hooks that graphs stand for."""
    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(lambda x: x.sin(), backend="eager")
    with saved_tensors_hooks(graph_of(lambda x: x * 2), graph_of(lambda x: x / 2)):
        compiled(torch.ones(2, requires_grad=True))
    compiled(torch.ones(2, requires_grad=True))
    assert counters["stats"]["unique_graphs"] == 2
