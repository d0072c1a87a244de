"""What Dynamo's code does for profiles is left out of what Dovetail compiles, and of nothing else."""

from collections.abc import Callable

import pytest
import torch
from torch._dynamo import config
from torch._guards import TracingContext, tracing
from torch.profiler import profile

from dovetail.torch_backend import dovetail

pytestmark = pytest.mark.usefixtures("op_by_op")


def ranges(backend: str, compiles_in_profile: bool = False) -> int:
    """How many ranges a profile of a call shows."""

    def compiled() -> Callable:
        function = torch.compile(lambda x: x * 2, backend=backend)
        function(torch.ones(2))
        return function

    torch._dynamo.reset()
    function = None if compiles_in_profile else compiled()
    with profile() as profiled:
        (function or compiled())(torch.ones(2))
    return sum(event.name == "Pregraph bytecode" for event in profiled.events())


def test_dynamos_setting_is_put_back():
    """Would catch profiles of other backends that lack what Dynamo shows of them."""
    assert ranges("dovetail") == 0
    assert config.record_runtime_overhead
    assert ranges("eager") == 1
    with config.patch(record_runtime_overhead=False):
        assert ranges("dovetail") == 0
        assert not config.record_runtime_overhead


def test_compiled_in_a_profile_it_is_shown():
    """Would catch a profile that lacks what was asked for before anything was compiled."""
    assert ranges("dovetail", compiles_in_profile=True) == 2


def test_the_setting_survives_a_graph_that_fails():
    """Would catch a setting that stays changed where Dynamo gives up after the graph was compiled."""

    def fails(x):
        torch._dynamo.graph_break()
        return x * 2

    torch._dynamo.reset()
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(lambda x: fails(x * 2), backend="dovetail", fullgraph=True)(torch.ones(2))
    torch.compile(lambda x: fails(x * 2), backend="dovetail")(torch.ones(2))
    assert config.record_runtime_overhead


def test_the_setting_is_left_where_somebody_else_traces():
    """Catches a setting that waits for Dynamo's end to be put back, though another one asks for the backend."""
    graph = torch.fx.symbolic_trace(lambda x: x * 2)
    with tracing(TracingContext(None)):
        dovetail(graph, [torch.ones(2)])
    assert config.record_runtime_overhead
