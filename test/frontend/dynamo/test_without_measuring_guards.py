"""How long guards take is for Dynamo's logs: where these are off nobody measures it."""

import logging

import pytest
import torch
from torch._dynamo import guards
from torch._dynamo.utils import CompileEventLogger


@pytest.mark.usefixtures("op_by_op")
@pytest.mark.parametrize("is_logged", [False, True])
def test_guards_are_measured_for_logs(monkeypatch, is_logged: bool):
    """Catches a flush of the processor's caches for each graph, for a log that is off; and a log without the figure."""
    latencies: list[int] = []
    monkeypatch.setattr(CompileEventLogger, "increment_toplevel", lambda name, figure: latencies.append(figure))
    monkeypatch.setattr(guards.guards_log, "isEnabledFor", lambda level: is_logged or level > logging.DEBUG)
    torch._dynamo.reset()
    torch.compile(torch.nn.SiLU(), backend="dovetail")(torch.ones(2))
    assert any(latencies) == is_logged
