"""Dropout that drops nothing: eager returns its argument itself, of which PyTorch's tracing makes a copy."""

import torch


def remove_idle_dropout(gm: torch.fx.GraphModule) -> None:
    """Replaces each in `gm`, and in the graphs inside of it, by its argument; in place.

    It is off, drops with probability 0, or has no elements to drop.
    """
    for module in gm.modules():
        if not isinstance(module, torch.fx.GraphModule):
            continue
        for node in list(module.graph.nodes):
            if node.target in (torch.nn.functional.dropout, torch.dropout) and _is_idle(*node.args, **node.kwargs):
                given = node.args[0] if node.args else node.kwargs["input"]
                node.replace_all_uses_with(given)
                module.graph.erase_node(node)
        module.recompile()


def _is_idle(input, p=0.5, training=True, inplace=False, train=True) -> bool:  # the parameters of both functions
    value = input.meta.get("example_value")
    is_empty = isinstance(value, torch.Tensor) and value.numel() == 0
    return not inplace and 0 <= p <= 1 and (p == 0 or not (training and train) or is_empty)
