"""The function `@layouts`: nodes of eager's backward, from the tangents to what operands lie as."""

import operator
from collections.abc import Iterator, Mapping

import torch
from torch.utils._pytree import tree_leaves
from torch_mlir import ir

from dovetail.dialects.attributes import SYMBOL, TANGENT_OF
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.ops.read import read
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Role, arguments
from dovetail.dialects.torch_facts.ops import op_name
from dovetail.dialects.torch_facts.types import torch_type
from dovetail.frontend.dynamo.open_sizes import is_open_value
from dovetail.frontend.records import BackwardLayouts
from dovetail.frontend.to_ir.building import finish, new_function, state_arguments
from dovetail.frontend.to_ir.node_importer import NodeImporter
from dovetail.frontend.to_ir.refs import ref_type


def layouts_function(
    importer: NodeImporter, layouts: BackwardLayouts, numbers: Mapping[int, int], given_as: Mapping[int, RefType]
) -> None:
    """Builds `@layouts`; `numbers` are those of the owned results by their positions among the tensors that leave.

    Of the same positions, `given_as` are the types of the tangents: eager's trace may lay out other ones.

    Its first arguments are the tangents, then symbols. What no tangent reaches, or no single op makes, is an argument
    that lies as it was traced.

    Raises:
        UnsupportedError: for sizes that only data tells.
    """
    tangents = {node: numbers[index] for index, node in layouts.tangents.items()}
    computed, given, sizes = _needed(layouts, tangents)
    symbols = importer.open.entering(number for node in (*computed, *given, *sizes) for number in _numbers(node))
    types = [*(given_as[index] for index in layouts.tangents), *([torch_type("int")] * len(symbols))]
    types += [ref_type(importer.types, node.meta["val"], importer.home) for node in given]
    with ir.InsertionPoint(importer.fx_importer.module.body):
        function_op = new_function("layouts", Role.LAYOUTS, types)
    facts = [{TANGENT_OF: i64(number)} for number in tangents.values()]
    facts += [{SYMBOL: i64(number)} for number in symbols]
    facts += [importer.open.lying(node.meta["val"]) for node in given]
    state_arguments(function_op, facts)
    inner = importer.nested(function_op)
    values = arguments(function_op)
    first = len(tangents) + len(symbols)
    inner.open = importer.open.at(dict(zip(symbols, values[len(tangents) : first], strict=True)))
    with ir.InsertionPoint(function_op.entry_block):
        for node, ref in zip([*tangents, *given], [*values[: len(tangents)], *values[first:]], strict=True):
            inner.bind_node_value(node, read(ref).value)
        for node in sizes:
            inner.bind_node_value(node, inner.argument(node.meta["val"]))
        for node in computed:
            _import(inner, node)
        finish(function_op, [inner.resolve_node_value(node) for node in layouts.results])


def _needed(layouts: BackwardLayouts, tangents: Mapping) -> tuple[list[torch.fx.Node], ...]:
    """The nodes that the results need and tangents reach, in order; tensors that these take besides; numbers."""
    depending = reachable(tangents, lambda node: node.users)
    wanted: dict[torch.fx.Node, int] = dict.fromkeys(layouts.results, 0)
    for node in reversed(layouts.graph.nodes):
        if node not in wanted or node in tangents:
            continue
        if not isinstance(node.meta["val"], torch.Tensor | list | tuple):
            wanted[node] = 2
        elif node in depending and _is_asked(node):
            wanted |= dict.fromkeys(set(node.all_input_nodes) - wanted.keys(), 0)
        else:
            wanted[node] = 1
    ordered = [node for node in layouts.graph.nodes if node in wanted and node not in tangents]
    return tuple([node for node in ordered if wanted[node] == kind] for kind in range(3))


def _numbers(node: torch.fx.Node) -> Iterator:
    """The open numbers that a node takes, makes, or that its tensors are sized by."""
    yield from filter(is_open_value, tree_leaves((node.args, node.kwargs)))
    for made in tree_leaves(node.meta["val"]):
        yield from filter(is_open_value, (*made.size(), *made.stride()) if isinstance(made, torch.Tensor) else (made,))


def _is_asked(node: torch.fx.Node) -> bool:
    """Whether an op makes the tensor of `node`, by itself or among a fixed number of results."""
    source = node.args[0] if node.target is operator.getitem else node
    made = source.meta["val"] if isinstance(source, torch.fx.Node) else None
    is_op = isinstance(source, torch.fx.Node) and isinstance(source.target, torch._ops.OpOverload)
    return is_op and isinstance(made, torch.Tensor | tuple)


def _import(importer: NodeImporter, node: torch.fx.Node) -> None:
    op, made = node.target, node.meta["val"]
    if not isinstance(op, torch._ops.OpOverload):
        importer._import_getitem(ir.Location.current, node)
        return
    operands = importer.operands(op, node.args, node.kwargs)
    types = [importer._cc.value_info_to_type(value) for value in (made if isinstance(made, tuple) else [made])]
    name = ir.StringAttr.get(f"torch.{op_name(op).removesuffix('.default')}")
    results = ir.Operation.create("torch.operator", results=types, operands=operands, attributes={"name": name}).results
    if isinstance(made, tuple):
        importer.bind_results(node, list(results))
    else:
        importer.bind_node_value(node, results[0])
