"""What a Dynamo graph says beside its nodes: the user's names, sizes that were left open, tensors stored in it."""

import copy
import functools
from collections.abc import Callable
from types import SimpleNamespace

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.fx._lazy_graph_module import _LazyGraphModule
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

OPEN_KINDS: dict[type, Callable] = {torch.SymInt: int, torch.SymFloat: float, torch.SymBool: bool}
"""What Python's number is of each kind of number that Dynamo leaves open."""


def graphs_in(gm: torch.nn.Module) -> list[torch.fx.GraphModule]:
    """`gm` and the graphs inside of it."""
    return [module for module in gm.modules() if isinstance(module, torch.fx.GraphModule)]


def lift_attributes(gm: torch.fx.GraphModule) -> tuple[torch.fx.GraphModule, list[torch.Tensor]]:
    """Makes the tensors that Dynamo stored in the graph (an optimizer's parameters and moments) its first arguments.

    Returns a copy of the graph, and of those inside of it, with those placeholders, and the tensors; Dynamo guards that
    they stay the same objects.
    """
    graph = copy_of(gm.graph)
    first = next(iter(graph.nodes))
    placeholders: dict[str, torch.fx.Node] = {}
    for node in graph.find_nodes(op="get_attr"):
        if not isinstance(_attribute(gm, node.target), torch.Tensor):
            continue
        if node.target not in placeholders:
            with graph.inserting_before(first):
                placeholders[node.target] = graph.placeholder(node.name)
            placeholders[node.target].meta = {**node.meta, "dovetail_name": node.target}
        node.replace_all_uses_with(placeholders[node.target])
        graph.erase_node(node)
    return with_graph(gm, graph), [_attribute(gm, target) for target in placeholders]


def copied(gm: torch.fx.GraphModule) -> torch.fx.GraphModule:
    """The same parameters, and graphs of its own: capture rewrites graphs that the eager path runs as they come."""
    return with_graph(gm, copy_of(gm.graph))


def copy_of(graph: torch.fx.Graph) -> torch.fx.Graph:
    """A graph like `graph`, in which placeholders tell the sources of arguments and refer to no argument.

    Dynamo drops its own references when it has compiled: of tensors with weak ones, `swap_tensors` takes none.
    """
    made = copy.deepcopy(graph)
    for node in made.find_nodes(op="placeholder"):
        if "grapharg" in node.meta:
            node.meta["grapharg"] = SimpleNamespace(source=getattr(node.meta["grapharg"], "source", None))
    return made


def with_graph(gm: torch.fx.GraphModule, graph: torch.fx.Graph) -> torch.fx.GraphModule:
    """`graph` with the parameters of `gm`, and copies of the graphs inside of it."""
    made = _LazyGraphModule(gm, graph)  # it is interpreted: of most, nobody runs the code that would be made
    made.meta = {**gm.meta}
    for name, module in gm.named_children():
        if isinstance(module, torch.fx.GraphModule) and hasattr(made, name):
            setattr(made, name, copied(module))
    return made


def _attribute(module: torch.nn.Module, target: str):
    return functools.reduce(getattr, target.split("."), module)


def input_names(gm: torch.fx.GraphModule) -> list[str]:
    """The user's own names ("L['self'].weight") for the placeholders, in order."""
    names = []
    for node in gm.graph.find_nodes(op="placeholder"):
        source = getattr(node.meta.get("grapharg"), "source", None)
        names.append(node.meta.get("dovetail_name") or (node.name if source is None else source.name))
    return [name() if callable(name) else name for name in names]


def fix_sizes(gm: torch.fx.GraphModule) -> None:
    """Fixes sizes that Dynamo would leave open to those of now; it guards on them and captures anew for others."""
    for node in gm.graph.find_nodes(op="placeholder"):
        value = node.meta.get("example_value")
        if isinstance(value, torch.Tensor):
            for number in (*value.size(), *value.stride(), value.storage_offset()):
                fixed(number)
            _fix_item(gm, node, value)
        fixed(value)


def _fix_item(gm: torch.fx.GraphModule, node: torch.fx.Node, value: torch.Tensor) -> None:
    """Puts the number of now in place of one that Dynamo passes in a tensor, a Python float of the user's."""
    item = value.item_memo if isinstance(value, FakeTensor) else None
    # Also one that PyTorch takes for known by now, since a check says so.
    if not isinstance(item, torch.SymFloat) or free_unbacked_symbols(item.node._expr):
        return
    for user in [user for user in node.users if user.op == "call_method" and user.target == "item"]:
        user.replace_all_uses_with(fixed(item))
        gm.graph.erase_node(user)
    gm.recompile()


def fixed(value):
    """A number of now in place of one that Dynamo left open."""
    return OPEN_KINDS[type(value)](value) if type(value) in OPEN_KINDS else value


def static_inputs(gm: torch.fx.GraphModule) -> set[int]:
    """Parameters and buffers: what Dynamo marks as static, by position."""
    placeholders = enumerate(gm.graph.find_nodes(op="placeholder"))
    return {index for index, node in placeholders if is_static(node) or "dovetail_name" in node.meta}


def is_static(node: torch.fx.Node) -> bool:
    """Whether Dynamo marks a placeholder as a parameter or a buffer."""
    return "_dynamo_static_input_type" in (node.meta.get("tensor_dict") or {})
