"""Checkpointed regions of a Dynamo graph that runs eagerly, as `torch.utils.checkpoint` itself runs them.

The operator that Dynamo puts in their place is made for tracing: run as it is, its backward draws random numbers anew.
"""

import copy

import torch
from torch.utils.checkpoint import checkpoint

_TAGGED = torch.ops.higher_order.tag_activation_checkpoint


def with_checkpoints(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """Returns a graph with the same modules and parameters, to be called in place of `gm`; itself where it has none."""
    if not gm.graph.find_nodes(op="call_function", target=_TAGGED):
        return gm
    graph = copy.deepcopy(gm.graph)
    for node in graph.find_nodes(op="call_function", target=_TAGGED):
        node.target = _checkpoint
    return torch.fx.GraphModule(gm, graph)


def _checkpoint(region: torch.fx.GraphModule, *arguments, **options):
    """The user's own call: with the options that were given, and the policy, which Dynamo keeps with the region."""
    contexts = region.meta.get("_checkpoint_context_fn")
    if contexts is not None:
        options["context_fn"] = contexts
    return checkpoint(with_checkpoints(region), *arguments, **options)
