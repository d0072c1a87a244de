"""Numbers that a graph returns and that only its run tells: they leave it in tensors, in which the call reads them."""

from collections.abc import Mapping

import torch
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

from dovetail.frontend.dynamo.graph import OPEN_KINDS, copied
from dovetail.frontend.dynamo.open_sizes import is_open_value


def numbers_in_tensors(gm: torch.fx.GraphModule) -> tuple[torch.fx.GraphModule, Mapping[str, str]]:
    """A copy of `gm` that returns a tensor in place of each such number; by the name of its node, what the number is.

    Whole numbers that follow from what the call takes are computed from that, and stay.
    """
    if not any(map(_is_told, gm.graph.output_node().all_input_nodes)):
        return gm, {}
    made = copied(gm)
    output, kinds = made.graph.output_node(), {}
    for node in filter(_is_told, output.all_input_nodes):
        kind = OPEN_KINDS[type(node.meta["example_value"])].__name__
        with made.graph.inserting_before(output):
            number = made.graph.call_function(torch.sym_ite, (node, 1, 0)) if kind == "bool" else node
            dtype = torch.float64 if kind == "float" else torch.int64
            held = made.graph.call_function(torch.scalar_tensor, (number,), {"dtype": dtype, "device": "cpu"})
        held.meta = {name: fact for name, fact in node.meta.items() if name == "stack_trace"}
        number.meta = number.meta or held.meta
        output.replace_input_with(node, held)
        kinds[held.name] = kind
    made.recompile()
    return made, kinds


def _is_told(node: torch.fx.Node) -> bool:
    value = node.meta.get("example_value")
    if not is_open_value(value) or isinstance(value, torch.Tensor):
        return False
    return not isinstance(value, torch.SymInt) or bool(free_unbacked_symbols(value))
