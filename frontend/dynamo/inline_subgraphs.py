"""Calls of graphs in a Dynamo graph, as the ops of these graphs: so each fact of an op is seen wherever it stands.

Dynamo makes such calls of `torch.compiler.nested_compile_region`. What they promise, one compilation for equal regions,
holds anyway, since equal compiled regions share their executable; and gradients and random numbers are eager's, whose
backward does not run such a region again. It makes them of `torch.utils.checkpoint`, too: what is recomputed is said of
the ops (`checkpoint_regions.py`).
"""

from collections.abc import Iterator
from itertools import count
from typing import Any, cast

import torch

from dovetail.frontend.dynamo.checkpoint_regions import CheckpointedRegion, check_reentrant, place_in, region_of
from dovetail.frontend.dynamo.graph import graphs_in

_NESTED, _CHECKPOINTED = torch.ops.higher_order.invoke_subgraph, torch.ops.higher_order.tag_activation_checkpoint
INLINED = (_NESTED, _CHECKPOINTED)
"""The calls of graphs whose ops become the caller's."""


def inline_subgraphs(gm: torch.fx.GraphModule) -> None:
    """Replaces every call in `gm` and in the graphs inside of it, in place; raises as `check_reentrant` does."""
    numbers = count()
    for module in graphs_in(gm):
        while calls := [node for each in INLINED for node in module.graph.find_nodes(op="call_function", target=each)]:
            for call in calls:
                _inline(module, call, numbers)
        module.recompile()


def _inline(module: torch.fx.GraphModule, call: torch.fx.Node, numbers: Iterator[int]) -> None:
    """Copies the callee's nodes to before `call`; nested calls come along with the graphs that they name."""
    named, *operands = cast(tuple[Any, ...], call.args)
    operands = operands[1:] if call.target is _NESTED else operands
    inner = getattr(module, str(named.target))
    region = region_of(call)
    if call.target is _CHECKPOINTED:
        check_reentrant(call, operands)
        draws_alike = bool(call.kwargs.get("preserve_rng_state", True))
        region = CheckpointedRegion((next(numbers),), inner.meta.get("_checkpoint_context_fn"), draws_alike).within(
            region
        )
    placeholders = inner.graph.find_nodes(op="placeholder")
    values = dict(zip(placeholders, operands, strict=True))
    with module.graph.inserting_before(call):
        for node in inner.graph.nodes:
            if node.op == "placeholder" or node.op == "output":
                continue
            values[node] = module.graph.node_copy(node, lambda each: values[each])
            if region is not None:
                place_in(region, values[node])
            if node.op == "get_attr":
                values[node].target = _adopt(module, inner, str(node.target))
    returned = cast(tuple, inner.graph.output_node().args[0])
    for user in list(call.users):
        result = returned[cast(int, user.args[1])]
        user.replace_all_uses_with(values[result] if isinstance(result, torch.fx.Node) else result)
        module.graph.erase_node(user)
    module.graph.erase_node(call)


def _adopt(module: torch.fx.GraphModule, inner: torch.fx.GraphModule, target: str) -> str:
    """Makes what `inner` calls `target` an attribute of `module`; returns its name there."""
    value = getattr(inner, target)
    name, tries = target, 0
    while hasattr(module, name) and getattr(module, name) is not value:
        tries += 1
        name = f"{target}_{tries}"
    if not hasattr(module, name):
        setattr(module, name, value)
    return name
