"""Refs as they were traced: their types, and the views of them to which chains of steps lead."""

from collections.abc import Iterable

import torch
from torch.utils._pytree import tree_leaves
from torch_mlir import ir

from dovetail.dialects.dovetail import RefType
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.ops.view import view
from dovetail.dialects.dovetail.types import OPEN
from dovetail.errors import UnsupportedError
from dovetail.frontend.devices import named
from dovetail.frontend.dynamo.open_sizes import is_open_value, known
from dovetail.frontend.records import ViewStep
from dovetail.frontend.to_ir.building import listed, torch_op
from dovetail.frontend.to_ir.node_importer import NodeImporter
from dovetail.frontend.to_ir.open_numbers import OpenTypes


def ref_type(types: OpenTypes, tensor: torch.Tensor, home: torch.device) -> RefType:
    """The type of a ref that lies as `tensor` does, in a module whose own device is `home`."""
    type_ = types.get_vtensor_type(tensor.size(), tensor.dtype)
    return RefType.of(type_, stated_strides(tensor.stride()), named(tensor.device, home))


def replay(nodes: NodeImporter, ref: ir.Value, chain: Iterable[ViewStep]) -> ir.Value:
    """The view of `ref` to which the steps lead."""
    for step in chain:
        tensor = nodes.types.get_vtensor_type(step.size, step.dtype)
        args = [_attribute(arg) for arg in step.args]
        opened = [leaf for leaf in tree_leaves(step.args) if is_open_value(leaf)]
        nodes.open.check_given(f"{step.callee}: to return a view", opened)
        numbers = nodes.open.values(opened)
        type_ = RefType.of(tensor, stated_strides(step.stride), RefType(ref.type).device)
        ref = view(ref, step.callee, args, type_, step.output_index, step.grad_mode, numbers).view
    return ref


def of_size(nodes: NodeImporter, node: torch.fx.Node, tensor: torch.Tensor) -> ir.Value:
    """What `node` gave, of the sizes that are known of `tensor`, though it was made with others: it checks."""
    value = nodes.resolve_node_value(node)
    wanted = nodes.types.get_vtensor_type(tensor.size(), node.meta["val"].dtype)
    if value.type == wanted:
        return value
    made = torch_op("torch.aten.view", wanted, value, listed("int", list(map(nodes.argument, tensor.size()))))
    nodes.open.state(made.owner, tensor)
    return made


def stated_strides(strides: Iterable) -> list[int | None]:
    """Strides as a type says them."""
    return [None if is_open_value(stride) else known(stride) for stride in strides]


def _attribute(value) -> ir.Attribute:
    """A view function's argument as an attribute: integers, booleans, floats, dtypes (by name) and lists of them."""
    match known(value):
        case torch.SymInt():
            return i64(OPEN)
        case bool():
            return ir.BoolAttr.get(value)
        case int():
            return i64(known(value))
        case float():
            return ir.FloatAttr.get_f64(value)
        case torch.dtype():
            return ir.StringAttr.get(str(value).removeprefix("torch."))
        case list() | tuple():
            return ir.ArrayAttr.get([_attribute(item) for item in value])
        case None:
            return ir.UnitAttr.get()
    raise UnsupportedError(f"view argument {value!r} of type {type(value).__name__} is not supported yet")
