"""Copies that plans are spared, on plans as `host_program.py` reads them."""

import torch

import dovetail
from dovetail.backends.worker.forwarded_copies import forward_copies


def copy(source: int, target: int) -> dict:
    return {"op": "copy", "source": [source, 0, 64], "target": [target, 0, 64]}


def dispatch(*buffers: int) -> dict:
    return {"op": "dispatch", "bindings": [[buffer, 0, 64] for buffer in buffers]}


def forwarded(transients: list[int], *steps: dict) -> tuple[list[int], list[dict]]:
    """Of a plan of two arguments, 0 and 1, its transients, from 2 on, and a constant behind them."""
    plan = forward_copies({"arguments": 2, "transients": transients, "steps": [*steps]})
    return plan["transients"], plan["steps"]


def test_copies_that_are_spared():
    """Catches a copy that somebody reads, an argument that is written while it is read, and buffers numbered anew."""
    # Two in one plan, after the first of which the other's buffers have other numbers.
    kept = [dispatch(0, 4), dispatch(4, 5)]
    assert forwarded([64, 64, 64], copy(0, 2), *kept, copy(4, 1), copy(0, 3)) == ([], [dispatch(0, 1), dispatch(1, 2)])
    # One copy of what another copies, both unread.
    assert forwarded([64, 64], dispatch(0, 1), copy(0, 2), copy(2, 3)) == ([], [dispatch(0, 1)])
    # Read afterwards, by a launch and by a copy of a part; touched before, so that memory is still there.
    steps = [copy(0, 2), dispatch(2, 1)]
    assert forwarded([64], *steps) == ([64], steps)
    steps = [dispatch(0, 2), dispatch(2, 1)]
    assert forwarded([64], *steps, copy(0, 2)) == ([64], steps)
    # The argument is read meanwhile, or takes less than all.
    for steps in ([dispatch(1, 2), copy(2, 1)], [dispatch(0, 2), copy(2, 1) | {"source": [2, 32, 32]}]):
        assert forwarded([64], *steps) == ([64], steps)


def test_what_is_copied_of_open_sizes_is_copied_once():
    """Catches a tangent of open sizes that is copied to its gradient, and from there to memory that nobody reads."""
    tensors = [torch.randn(shape, requires_grad=True) for shape in ((96, 80), (80,), (96, 80))]
    for tensor in tensors:
        torch._dynamo.maybe_mark_dynamic(tensor, [*range(tensor.dim())])
    [graph] = dovetail.explain(lambda x, bias, y: (x + bias).sin() + y, *tensors).graphs
    plan = graph.ir[graph.ir.index("@backward_region_0_plan") :]
    assert plan.count('"dovetail.copy_buffer"') == 1
    assert '"dovetail.transient"' not in plan
