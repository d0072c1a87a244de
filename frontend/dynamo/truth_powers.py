"""Powers of truth values to Python's True and False: eager's are truth values, what PyTorch traces whole numbers."""

import operator

import torch

from dovetail.frontend.dynamo.graph import graphs_in

_POWERS = (operator.pow, torch.pow, torch.ops.aten.pow.Tensor_Scalar, "pow")


def replace_truth_powers(gm: torch.fx.GraphModule) -> None:
    """Replaces each in `gm`, and in its inner graphs, by `x | x` or `x == x`, which lie as eager's do; in place."""
    for module in graphs_in(gm):
        for node in module.graph.nodes:
            if node.target in _POWERS and not node.kwargs:
                _replace(node, *node.args)
        module.recompile()


def _replace(node: torch.fx.Node, base, exponent) -> None:
    value = base.meta.get("example_value") if isinstance(base, torch.fx.Node) else None
    if type(exponent) is not bool or not isinstance(value, torch.Tensor) or value.dtype is not torch.bool:
        return
    node.op, node.target, node.args = "call_function", torch.bitwise_or if exponent else torch.eq, (base, base)
    node.meta["example_value"] = value  # of a truth value's power, another one is such, too
