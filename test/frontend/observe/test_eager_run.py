"""The run on tensors without memory, by itself."""

import torch
from torch._guards import TracingContext, detect_fake_mode, tracing
from torch._subclasses.fake_tensor import FakeTensorMode

from dovetail.frontend.observe.eager_run import eager_run
from dovetail.frontend.observe.wrapped_arguments import flatten_arguments


def test_what_traces_during_the_run_finds_its_mode():
    """Would catch Dynamo's mode found in its place: some versions of `cond` trace gradients as they run, under it."""
    found = []

    def asks(x):
        found.append(detect_fake_mode())
        return x.sin()

    graph = torch.fx.Graph()
    graph.output((graph.call_function(asks, (graph.placeholder("x"),)),))
    gm = torch.fx.GraphModule(torch.nn.Module(), graph)
    with tracing(TracingContext(FakeTensorMode())):
        run = eager_run(gm, flatten_arguments(["x"], [torch.rand(2)], [None]), ())
    assert found == [run.mode]
