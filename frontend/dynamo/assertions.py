"""Keeps `torch._assert_async` through tracing, which drops the overload without a message as if it did nothing."""

import torch

# What eager raises for that overload.
_MESSAGE = "Expected Tensor with single nonzero value, but got zero"


def keep_assertions(gm: torch.fx.GraphModule) -> None:
    """Gives every such assertion in `gm`, and in the graphs inside of it, eager's message; in place."""
    for module in gm.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        for node in module.graph.nodes:
            if node.target is torch._assert_async and len(node.args) + len(node.kwargs) == 1:
                node.kwargs = {**node.kwargs, "assert_msg": _MESSAGE}
            elif node.target in (torch.ops.aten._assert_async, torch.ops.aten._assert_async.default):
                node.target = torch.ops.aten._assert_async.msg
                if len(node.args) + len(node.kwargs) == 1:
                    node.kwargs = {**node.kwargs, "assert_msg": _MESSAGE}
        module.recompile()
