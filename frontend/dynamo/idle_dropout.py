"""Dropout that draws no numbers: eager returns its argument, or drops all of it; PyTorch traces a copy, or draws."""

import torch

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.frontend.dynamo.graph import graphs_in

_DROPOUTS = (torch.nn.functional.dropout, torch.dropout, torch.ops.aten.dropout, torch.ops.aten.dropout.default)


def replace_idle_dropout(gm: torch.fx.GraphModule) -> None:
    """Replaces each in `gm`, and in the graphs inside of it, by its argument, or by 0 times that; in place.

    It is off, drops with probability 0, or has no elements to drop; or drops with probability 1.
    """
    for module in graphs_in(gm):
        for node in list(module.graph.nodes):
            if node.target in _DROPOUTS:
                _replace(node, *node.args, **node.kwargs)
        module.recompile()


def _replace(node: torch.fx.Node, input, p=0.5, training=True, inplace=False, train=True) -> None:
    """The parameters are those of all these functions."""
    value = input.meta.get("example_value")
    has_none = isinstance(value, torch.Tensor) and is_empty(value)
    p = p.meta.get("example_value") if isinstance(p, torch.fx.Node) else p
    if inplace or not 0 <= p <= 1:
        return
    if p == 0 or not (training and train) or has_none:
        node.replace_all_uses_with(input)
        node.graph.erase_node(node)
    elif p == 1:
        with node.graph.inserting_before(node):
            zero = node.graph.call_method("new_zeros", (input, ()))
        node.target, node.args, node.kwargs = torch.mul, (input, zero), {}
