"""`torch.cond` and `while_loop` nodes: their graphs become functions of the module, the node a host call of them."""

import operator
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch_mlir import ir

from dovetail.dialects.control_flow import COND, WHILE_LOOP, control_flow
from dovetail.dialects.reading import Role, arguments
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.open_sizes import is_open_value, sizes_in
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.to_ir.building import finish, new_function, state_arguments


def import_cond(importer, node: torch.fx.Node) -> None:
    """`cond(predicate, then graph, else graph, operands)`."""
    predicate, then, otherwise, operands = cast(tuple[Any, ...], node.args)
    graphs = {"then": then, "else": otherwise}
    _agree(node, [then, otherwise])
    _call(importer, node, COND, graphs, _numbers(operands), [predicate, *_values(operands)])


def import_while_loop(importer, node: torch.fx.Node) -> None:
    """`while_loop(condition graph, body graph, carried values, others)`."""
    condition, body, carried, others = cast(tuple[Any, ...], node.args)
    graphs = {"condition": condition, "body": body}
    _call(importer, node, WHILE_LOOP, graphs, _numbers(others, len(carried)), [*carried, *_values(others)])


def _numbers(operands: Sequence, first: int = 0) -> dict[int, Any]:
    """The operands that are known, by position: sizes that Dynamo left open, and `fix_sizes` fixed."""
    return {first + index: operand for index, operand in enumerate(operands) if not isinstance(operand, torch.fx.Node)}


def _values(operands: Sequence) -> list[torch.fx.Node]:
    return [operand for operand in operands if isinstance(operand, torch.fx.Node)]


def _agree(node: torch.fx.Node, branches: Sequence[torch.fx.Node]) -> None:
    """Has `cond` and its branches say one size of a result: known, where a guard made it so for one of them."""
    agreed = []
    for made, *returned in zip(node.meta["val"], *(_returned(_module(branch)) for branch in branches), strict=True):
        nodes = [each for each in returned if isinstance(each, torch.fx.Node) and each.op != "placeholder"]
        best = min([made, *(each.meta["val"] for each in nodes)], key=_count_open)
        for each in nodes:
            if _count_open(each.meta["val"]) > _count_open(best):
                _say(each, best)
        agreed.append(best)
    node.meta["val"] = tuple(agreed)


def _count_open(value: object) -> int:
    return sum(map(is_open_value, sizes_in(value)))


def _say(node: torch.fx.Node, value: torch.Tensor) -> None:
    """Notes that `node` gives what looks like `value`, and so does what it is taken from."""
    node.meta["val"] = value
    node.meta.pop("tensor_meta", None)  # the same again, which torch-mlir asks first
    if node.target is operator.getitem:
        source, index = cast(tuple[Any, int], node.args)
        values = source.meta["val"]
        source.meta["val"] = type(values)([*values[:index], value, *values[index + 1 :]])


def _call(
    importer, node, name: str, graphs: dict[str, torch.fx.Node], numbers: dict[int, Any], arguments: list
) -> None:
    functions = [_subgraph(importer, node, graph, role, numbers) for role, graph in graphs.items()]
    results = [importer._cc.value_info_to_type(value) for value in node.meta["val"]]
    op = control_flow(name, functions, list(map(importer.argument, arguments)), results)
    importer.open.state(op, node.meta["val"])
    importer.mark_backward(node, op)
    importer.bind_results(node, op.results)


def _subgraph(importer, node: torch.fx.Node, graph: torch.fx.Node, role: str, numbers: dict[int, Any]) -> str:
    """Imports the graph that `graph` names as a private function, with `numbers` in place; returns its symbol."""
    module = _module(graph)
    placeholders = module.graph.find_nodes(op="placeholder")
    for index, number in numbers.items():
        placeholders[index].replace_all_uses_with(number)
        module.graph.erase_node(placeholders[index])
    placeholders = module.graph.find_nodes(op="placeholder")
    try:
        types = [importer._cc.node_val_to_type(placeholder) for placeholder in placeholders]
    except NotImplementedError as error:
        raise UnsupportedError(f"{source_line(node)}: an operand of {node.target} is not supported: {error}") from error
    taken = [placeholder.meta["val"] for placeholder in placeholders]
    if not _sizes(module.graph) <= {value.node.expr for value in taken if is_open_value(value)}:
        raise UnsupportedError(f"{source_line(node)}: {node.target} makes tensors of sizes that it does not take")
    name = f"{role}_{importer.symbols[role]}"
    importer.symbols[role] += 1
    with ir.Location.unknown():
        with ir.InsertionPoint(importer.fx_importer.module.body):
            function_op = new_function(name, Role.SUBGRAPH, types)
        inner = importer.nested(function_op)
        inner.open = importer.open.inside(zip(taken, arguments(function_op), strict=True))
        facts = [inner.open.taken(value) for value in taken]
        if any(facts):
            state_arguments(function_op, facts)
        inner.import_nodes(node for node in module.graph.nodes if node.op != "output")
        with ir.InsertionPoint(function_op.entry_block):
            finish(function_op, [inner.argument(result) for result in _returned(module)])
    return name


def _module(graph: torch.fx.Node) -> torch.fx.GraphModule:
    """What `graph` names."""
    return cast(torch.fx.GraphModule, getattr(graph.graph.owning_module, str(graph.target)))


def _returned(module: torch.fx.GraphModule) -> Sequence:
    returned = module.graph.output_node().args[0]
    return returned if isinstance(returned, list | tuple) else [returned]


def _sizes(graph: torch.fx.Graph) -> set:
    """The symbols in the sizes of tensors in `graph`."""
    sizes = (size for node in graph.nodes for size in sizes_in(node.meta.get("val")))
    return {symbol for size in sizes if is_open_value(size) for symbol in size.node.expr.free_symbols}
