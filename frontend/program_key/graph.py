"""A Dynamo graph as text: nodes with what they call and take, and the source lines that messages name."""

import itertools
from collections.abc import Callable, Iterable
from operator import attrgetter

import torch

from dovetail.frontend.dynamo.graph import input_names, static_inputs
from dovetail.frontend.dynamo.open_sizes import has_open_sizes
from dovetail.frontend.program_key.callees import check_method, function_name
from dovetail.frontend.program_key.unkeyed import NUMBERS, Unkeyed, number_text

_PLAIN = (str, bytes, type(None), type(...))
"""What is told by its `repr`."""
_OF_TORCH = (torch.dtype, torch.device, torch.layout, torch.memory_format)
_SEQUENCES = (list, tuple, torch.Size, torch.fx.immutable_collections.immutable_list)


def graph_text(gm: torch.fx.GraphModule) -> str:
    """All of `gm` that the capture reads.

    Raises:
        Unkeyed: for what text can't tell, and for sizes that Dynamo leaves open: deciding on one adds a guard.
    """
    if has_open_sizes(gm):
        raise Unkeyed("sizes that Dynamo leaves open")
    inputs = f"inputs {input_names(gm)}, static {sorted(static_inputs(gm))}"
    return f"{inputs}\n{nodes_text(gm.graph.nodes, attrgetter('name'))}"


def nodes_text(nodes: Iterable[torch.fx.Node], name: Callable[[torch.fx.Node], object]) -> str:
    """What each of `nodes` calls and takes, and where it stands; nodes are told apart by `name`.

    Raises:
        Unkeyed: for what text can't tell.
    """
    lines = []
    for node in nodes:
        values = f"{_value(node.args, name)} {_value(node.kwargs, name)}"
        lines.append(f"{name(node)} = {node.op} {_callee(node)} {values} {node.meta.get('stack_trace')!r}")
    return "\n".join(lines)


def _callee(node: torch.fx.Node) -> str:
    target = node.target
    if node.op in ("call_module", "get_attr"):
        raise Unkeyed(f"{target} is a module or an object in the graph")
    if target is getattr:
        check_method(str(node.args[1]))
    if not isinstance(target, str):
        return function_name(target)
    if node.op == "call_method":
        check_method(target)
    return target


def _value(value: object, name: Callable[[torch.fx.Node], object]) -> str:
    """`value`, an argument of a node, as text that only its equals have."""
    kind = type(value)
    if isinstance(value, torch.fx.Node):
        return f"%{name(value)}"
    if kind in NUMBERS:
        return number_text(value)
    if kind in _PLAIN:
        return repr(value)
    if kind in _OF_TORCH:
        return f"{kind.__name__} {value}"
    if kind is slice:
        return f"slice{_value((value.start, value.stop, value.step), name)}"  # type: ignore[attr-defined]
    if isinstance(value, list | tuple) and kind in _SEQUENCES:
        return f"{kind.__name__}({_values(value, name)})"
    if isinstance(value, dict) and kind in (dict, torch.fx.immutable_collections.immutable_dict):
        pairs = itertools.chain.from_iterable(value.items())
        return f"{kind.__name__}({_values(pairs, name)})"
    raise Unkeyed(f"a node takes a {kind.__qualname__}")


def _values(values: Iterable[object], name: Callable[[torch.fx.Node], object]) -> str:
    return ", ".join(_value(value, name) for value in values)
