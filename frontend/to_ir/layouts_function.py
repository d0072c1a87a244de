"""The function `@layouts`: nodes of eager's backward, from the tangents to what operands lie as."""

import operator
from collections.abc import Mapping

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import TANGENT_OF
from dovetail.dialects.dovetail import RefType
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.ops.read import read
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import Role, set_role
from dovetail.dialects.torch_facts.ops import op_name
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.open_sizes import is_open
from dovetail.frontend.records import BackwardLayouts
from dovetail.frontend.to_ir.node_importer import NodeImporter
from dovetail.frontend.to_ir.refs import ref_type


def layouts_function(
    importer: NodeImporter, layouts: BackwardLayouts, numbers: Mapping[int, int], given_as: Mapping[int, RefType]
) -> None:
    """Builds `@layouts`; `numbers` are those of the owned results by their places among the tensors that leave.

    Of the same places, `given_as` are the types of the tangents: eager's trace may lay out other ones.

    Its first arguments are the tangents. What no tangent reaches, or no single op makes, is an argument that lies as it
    was traced.

    Raises:
        UnsupportedError: for tensors of open sizes.
    """
    tangents = {node: numbers[place] for place, node in layouts.tangents.items()}
    computed, given = _needed(layouts, tangents)
    arguments = [*tangents, *given]
    if any(is_open(size) for node in arguments for size in node.meta["val"].size()):
        raise UnsupportedError("operands in the backward lie as the gradients do that the caller gives: sizes count")
    types = [given_as[place] for place in layouts.tangents]
    types += [ref_type(importer.types, node.meta["val"], importer.home) for node in given]
    with ir.Location.unknown(importer._c), ir.InsertionPoint(importer.fx_importer.module.body):
        function_op = func.FuncOp("layouts", ir.FunctionType.get(types, []), visibility="private")
        set_role(function_op, Role.LAYOUTS)
        facts = [{TANGENT_OF: i64(tangents[node])} if node in tangents else {} for node in arguments]
        function_op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in facts])
        block = function_op.add_entry_block()
    inner = importer.nested(block)
    with ir.Location.unknown(importer._c), ir.InsertionPoint(block):
        for node, ref in zip(arguments, block.arguments, strict=True):
            inner.bind_node_value(node, read(ref).value)
        for node in computed:
            _import(inner, node)
        values = [inner.resolve_node_value(node) for node in layouts.results]
        func.ReturnOp(values)
        signature = ir.FunctionType.get(types, [value.type for value in values])
        function_op.attributes["function_type"] = ir.TypeAttr.get(signature)


def _needed(layouts: BackwardLayouts, tangents: Mapping) -> tuple[list[torch.fx.Node], list[torch.fx.Node]]:
    """The nodes that the results need and tangents reach, in order; and what these take besides, likewise."""
    depending = reachable(tangents, lambda node: node.users)
    wanted, given = set(layouts.results), set()
    for node in reversed(layouts.graph.nodes):
        if node not in wanted or node in tangents:
            continue
        if node in depending and _is_asked(node):
            wanted.update(node.all_input_nodes)
        else:
            given.add(node)
    ordered = [node for node in layouts.graph.nodes if node in wanted and node not in tangents]
    return [each for each in ordered if each not in given], [each for each in ordered if each in given]


def _is_asked(node: torch.fx.Node) -> bool:
    """Whether an op makes the tensor of `node`, by itself or among a fixed number of results."""
    source = node.args[0] if node.target is operator.getitem else node
    made = source.meta["val"] if isinstance(source, torch.fx.Node) else None
    is_op = isinstance(source, torch.fx.Node) and isinstance(source.target, torch._ops.OpOverload)
    return is_op and isinstance(made, torch.Tensor | tuple)


def _import(importer: NodeImporter, node: torch.fx.Node) -> None:
    op, made = node.target, node.meta["val"]
    location = ir.Location.unknown()
    if not isinstance(op, torch._ops.OpOverload):
        importer._import_getitem(location, node)
        return
    operands = importer.operands(location, op._schema, node.args, node.kwargs)
    types = [importer._cc.value_info_to_type(each) for each in (made if isinstance(made, tuple) else [made])]
    name = ir.StringAttr.get(f"torch.{op_name(op).removesuffix('.default')}")
    results = ir.Operation.create("torch.operator", results=types, operands=operands, attributes={"name": name}).results
    if isinstance(made, tuple):
        importer.bind_results(node, list(results))
    else:
        importer.bind_node_value(node, results[0])
