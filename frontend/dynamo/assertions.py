"""Keeps `torch._assert_async` through tracing, which drops the overload without a message as if it did nothing."""

import torch

from dovetail.frontend.dynamo.graph import graphs_in

_OVERLOADS = (torch.ops.aten._assert_async, torch.ops.aten._assert_async.default)
# What eager raises for that overload.
_MESSAGE = "Expected Tensor with single nonzero value, but got zero"


def keep_assertions(gm: torch.fx.GraphModule) -> None:
    """Gives every such assertion in `gm`, and in the graphs inside of it, eager's message; in place."""
    for module in graphs_in(gm):
        for node in module.graph.nodes:
            if node.target in _OVERLOADS:
                node.target = torch.ops.aten._assert_async.msg
            elif node.target is not torch._assert_async:
                continue
            if len(node.args) + len(node.kwargs) == 1:
                node.update_kwarg("assert_msg", _MESSAGE)
        module.recompile()
