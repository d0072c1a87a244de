"""`invoke_subgraph` calls in a Dynamo graph, as the ops of their graphs.

Dynamo makes them of `torch.compiler.nested_compile_region`. What they promise, one compilation for equal regions,
holds anyway, since equal compiled regions share their executable; and gradients and random numbers are eager's, whose
backward does not run such a region again.
"""

from typing import Any, cast

import torch


def inline_subgraphs(gm: torch.fx.GraphModule) -> None:
    """Replaces every call in `gm` and in the graphs inside of it, in place."""
    for module in list(gm.modules()):
        if not isinstance(module, torch.fx.GraphModule):
            continue
        calls = module.graph.find_nodes(op="call_function", target=torch.ops.higher_order.invoke_subgraph)
        while calls:
            for call in calls:
                _inline(module, call)
            calls = module.graph.find_nodes(op="call_function", target=torch.ops.higher_order.invoke_subgraph)
        module.recompile()


def _inline(module: torch.fx.GraphModule, call: torch.fx.Node) -> None:
    """Copies the callee's nodes to before `call`; nested calls come along with the graphs that they name."""
    named, _, *operands = cast(tuple[Any, ...], call.args)
    inner = getattr(module, str(named.target))
    placeholders = inner.graph.find_nodes(op="placeholder")
    values = dict(zip(placeholders, operands, strict=True))
    with module.graph.inserting_before(call):
        for node in inner.graph.nodes:
            if node.op == "placeholder" or node.op == "output":
                continue
            values[node] = module.graph.node_copy(node, lambda each: values[each])
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
    name, count = target, 0
    while hasattr(module, name) and getattr(module, name) is not value:
        count += 1
        name = f"{target}_{count}"
    if not hasattr(module, name):
        setattr(module, name, value)
    return name
