"""`torch.cond` and `while_loop` nodes: their graphs become functions of the module, the node a host call of them."""

from collections.abc import Sequence
from functools import partial
from itertools import filterfalse
from typing import Any, cast

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.control_flow import COND, WHILE_LOOP, control_flow
from dovetail.dialects.reading import Role, set_role
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.open_sizes import is_open, sizes_in
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.to_ir.number_nodes import bind_number


def import_cond(importer, loc: ir.Location, node: torch.fx.Node) -> None:
    """`cond(predicate, then graph, else graph, operands)`."""
    predicate, then, otherwise, operands = cast(tuple[Any, ...], node.args)
    graphs = ((then, "then"), (otherwise, "else"))
    functions = [_subgraph(importer, node, graph, role, _numbers(operands)) for graph, role in graphs]
    _call(importer, loc, node, COND, functions, [predicate, *_values(operands)])


def import_while_loop(importer, loc: ir.Location, node: torch.fx.Node) -> None:
    """`while_loop(condition graph, body graph, carried values, others)`."""
    condition, body, carried, others = cast(tuple[Any, ...], node.args)
    graphs = ((condition, "condition"), (body, "body"))
    numbers = _numbers(others, len(carried))
    functions = [_subgraph(importer, node, graph, role, numbers) for graph, role in graphs]
    _call(importer, loc, node, WHILE_LOOP, functions, [*carried, *_values(others)])


def _numbers(operands: Sequence, first: int = 0) -> dict[int, Any]:
    """The operands that are known, by position: sizes that Dynamo left open, and `fix_sizes` fixed."""
    return {first + index: each for index, each in enumerate(operands) if not isinstance(each, torch.fx.Node)}


def _values(operands: Sequence) -> list[torch.fx.Node]:
    return [each for each in operands if isinstance(each, torch.fx.Node)]


def _call(importer, loc, node, name: str, functions: list[str], arguments: list) -> None:
    operands = [importer._import_argument(loc, argument) for argument in arguments]
    results = [importer._cc.value_info_to_type(value) for value in node.meta["val"]]
    with loc:
        op = control_flow(name, functions, operands, results)
    importer.open.state(op, node.meta["val"])
    importer.mark_backward(node, op)
    importer.bind_results(node, op.results)


def _subgraph(importer, node: torch.fx.Node, graph: torch.fx.Node, role: str, numbers: dict[int, Any]) -> str:
    """Imports the graph that `graph` names as a private function, with `numbers` in place; returns its symbol."""
    module = getattr(graph.graph.owning_module, str(graph.target))
    placeholders = module.graph.find_nodes(op="placeholder")
    for index, number in numbers.items():
        placeholders[index].replace_all_uses_with(number)
        module.graph.erase_node(placeholders[index])
    placeholders = module.graph.find_nodes(op="placeholder")
    try:
        types = [importer._cc.node_val_to_type(each) for each in placeholders]
    except NotImplementedError as error:
        raise UnsupportedError(f"{source_line(node)}: an operand of {node.target} is not supported: {error}") from error
    taken = [each.meta["val"] for each in placeholders]
    if not _sizes(module.graph) <= {each.node.expr for each in taken if is_open(each)}:
        raise UnsupportedError(f"{source_line(node)}: {node.target} makes tensors of sizes that it does not take")
    symbols = importer.symbols
    name = f"{role}_{symbols[role]}"
    symbols[role] += 1
    body = importer.fx_importer.module.body
    with ir.Location.unknown(importer._c), ir.InsertionPoint(body):
        function_op = func.FuncOp(name, ir.FunctionType.get(types, []), visibility="private")
    set_role(function_op, Role.SUBGRAPH)
    block = function_op.add_entry_block()
    inner = importer.nested(block)
    inner.open = importer.open.inside(zip(taken, block.arguments, strict=True))
    facts = [inner.open.taken(each) for each in taken]
    if any(facts):
        function_op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in facts])
    with ir.InsertionPoint(block):
        nodes = (each for each in module.graph.nodes if each.op != "output")
        inner.import_nodes(filterfalse(partial(bind_number, inner), nodes))
    returned = module.graph.output_node().args[0]
    returned = returned if isinstance(returned, list | tuple) else [returned]
    with ir.InsertionPoint(inner._b), ir.Location.unknown(importer._c):
        values = [inner._import_argument(ir.Location.unknown(), each) for each in returned]
        func.ReturnOp(values)
    signature = ir.FunctionType.get(types, [value.type for value in values], importer._c)
    function_op.attributes["function_type"] = ir.TypeAttr.get(signature)
    return name


def _sizes(graph: torch.fx.Graph) -> set:
    """The symbols in the sizes of tensors in `graph`."""
    sizes = (size for each in graph.nodes for size in sizes_in(each.meta.get("val")))
    return {symbol for size in sizes if is_open(size) for symbol in size.node.expr.free_symbols}
