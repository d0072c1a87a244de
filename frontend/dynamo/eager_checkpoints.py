"""Checkpointed regions of a Dynamo graph that runs eagerly, as `torch.utils.checkpoint` itself runs them.

The operator that Dynamo puts in their place is made for tracing: run as it is, its backward draws random numbers anew.
"""

import copy
from collections.abc import Collection

import torch
from torch.utils.checkpoint import checkpoint

from dovetail.frontend.dynamo.graph import is_static

_TAGGED = torch.ops.higher_order.tag_activation_checkpoint


def with_checkpoints(gm: torch.fx.GraphModule, state: Collection[int] = ()) -> torch.fx.GraphModule:
    """Returns a graph with the same modules and parameters, to be called in place of `gm`; itself where it has none.

    `state` are those of its arguments that are module state, beside those that Dynamo marks.
    """
    if not gm.graph.find_nodes(op="call_function", target=_TAGGED):
        return gm
    graph = copy.deepcopy(gm.graph)
    placeholders = enumerate(graph.find_nodes(op="placeholder"))
    held = {node for index, node in placeholders if index in state or is_static(node)}
    for node in graph.find_nodes(op="call_function", target=_TAGGED):
        region, *operands = node.args
        node.args = (region, [index for index, operand in enumerate(operands) if operand in held], *operands)
        node.target = _checkpoint
    return torch.fx.GraphModule(gm, graph)


def _checkpoint(region: torch.fx.GraphModule, state: Collection[int], *operands, **options):
    """The user's own call: with the options that were given, and the policy, which Dynamo keeps with the region.

    Module state is not passed: the user's function has it. What is passed must not be written, and tells `checkpoint`
    whether its result requires a gradient.
    """
    contexts = region.meta.get("_checkpoint_context_fn")
    if contexts is not None:
        options["context_fn"] = contexts
    function = with_checkpoints(region, state)

    def run(*passed):
        rest = iter(passed)
        return function(*(operand if index in state else next(rest) for index, operand in enumerate(operands)))

    return checkpoint(run, *(operand for index, operand in enumerate(operands) if index not in state), **options)
