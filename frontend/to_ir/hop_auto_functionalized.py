"""Custom ops that write their arguments: `auto_functionalized` nodes.

Tracing makes such an op a function: it returns its own results, then what it left in each tensor that it wrote. In the
IR the tensors are copied to memory (`!torch.tensor`), and the op runs on that memory or on views of it. Later ops use
the values that the memory then holds. All are library calls, which keep their order; an error in the op finds nothing
that the user could see written.
"""

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch_mlir import ir

from dovetail.dialects.torch_facts.types import is_torch_type, memory_type, torch_type
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line

REASON = "effect: an op that writes its arguments"
COPY_REASON = "memory for an op that writes its arguments"


@dataclass(frozen=True)
class _Memory:
    """A copy of a tensor, and what the tensor looked like while tracing."""

    value: ir.Value
    like: torch.Tensor


def import_auto_functionalized_v2(importer, loc: ir.Location, node: torch.fx.Node) -> None:
    """The written tensors are `_all_bases`; `_x_base_index` and more say which view of which of them argument x is."""
    (target,) = cast(tuple[torch._ops.OpOverload], node.args)
    kwargs: dict[str, Any] = dict(node.kwargs)
    memories = [_copy(importer, loc, node, base) for base in kwargs.pop("_all_bases")]
    arguments = {}
    for argument in target._schema.arguments:
        if argument.alias_info is None or not argument.alias_info.is_write:
            arguments[argument.name] = kwargs[argument.name]
            continue
        prefix = f"_{argument.name}"
        if f"{prefix}_length" in kwargs:
            arguments[argument.name] = _views(importer, loc, node, kwargs, prefix, memories)
        else:
            arguments[argument.name] = _view(importer, loc, node, kwargs, prefix, memories)
    _call(importer, loc, node, target, arguments, memories)


def import_auto_functionalized(importer, loc: ir.Location, node: torch.fx.Node) -> None:
    """The older form: the written arguments, tensors or lists of them, stand by their names, each on its own."""
    (target,) = cast(tuple[torch._ops.OpOverload], node.args)
    arguments: dict[str, Any] = dict(node.kwargs)
    memories = []
    for argument in target._schema.arguments:
        value = arguments[argument.name]
        if argument.alias_info is None or not argument.alias_info.is_write or value is None:
            continue
        if not isinstance(value, torch.fx.Node):
            raise UnsupportedError(
                f"{source_line(node)}: a list that {target} writes is not supported in this form, set"
                " torch._inductor.config.enable_auto_functionalized_v2"
            )
        memories.append(_copy(importer, loc, node, value))
        arguments[argument.name] = memories[-1].value
    _call(importer, loc, node, target, arguments, memories)


def _call(importer, loc, node, target, arguments: dict, memories: list[_Memory]) -> None:
    schema = target._schema
    own = [] if not schema.returns else list(node.meta["val"])[: len(schema.returns)]
    if any(isinstance(value, list | tuple) for value in own):
        raise UnsupportedError(f"{source_line(node)}: {target} writes its arguments and returns a list: not supported")
    results = [importer._cc.value_info_to_type(value) for value in own]
    name = f"{target.namespace}.{target._opname}.{target._overloadname}"
    op = importer.call(loc, node, name, REASON, importer.operands(loc, schema, (), arguments), results)
    importer.state_strides(node, op, schema, (), arguments)
    held = [_held(importer, loc, node, memory) for memory in memories]
    # An op that returns nothing returns one None.
    importer.bind_results(node, [*(op.results if own else [None]), *held])


def _copy(importer, loc, node, base: torch.fx.Node) -> _Memory:
    """Memory with the strides that were traced, which views of it rely on, and the value of `base` in it."""
    like, value = base.meta["val"], importer.resolve_node_value(base)
    if any(size > 1 and stride == 0 for size, stride in zip(like.size(), like.stride(), strict=True)):
        raise UnsupportedError(f"{source_line(node)}: an op that writes an expanded tensor is not supported")
    type_ = _memory_type(importer, like)
    none, false = importer._import_argument(loc, None), importer._import_argument(loc, False)
    layout = [_integers(importer, loc, each) for each in (like.size(), like.stride())]
    operands = [value, *layout, none, none, none, none]
    memory = importer.call(loc, node, "aten.new_empty_strided.default", COPY_REASON, operands, [type_]).result
    importer.call(loc, node, "aten.copy_.default", COPY_REASON, [memory, value, false], [type_])
    return _Memory(memory, like)


def _held(importer, loc, node, memory: _Memory) -> ir.Value:
    """The value that the memory holds now; nothing writes it any more."""
    result = importer._cc.tensor_to_vtensor_type(memory.like)
    return importer.call(loc, node, "aten.alias.default", COPY_REASON, [memory.value], [result]).result


def _views(importer, loc, node, kwargs: dict, prefix: str, memories: list[_Memory]) -> ir.Value:
    length = kwargs[f"{prefix}_length"]
    if length is None:
        return importer._import_argument(loc, None)
    views = [_view(importer, loc, node, kwargs, f"{prefix}_{index}", memories) for index in range(length)]
    optional = any(is_torch_type(view.type, "none") for view in views)
    with loc:
        tensors = torch_type("list<optional<tensor>>" if optional else "list<tensor>", importer._c)
        return ir.Operation.create("torch.prim.ListConstruct", results=[tensors], operands=views).result


def _view(importer, loc, node, kwargs: dict, prefix: str, memories: list[_Memory]) -> ir.Value:
    """The argument that `prefix` describes: none, the whole memory, a slice of it, or any strided view."""
    index = kwargs[f"{prefix}_base_index"]
    if index is None:
        return importer._import_argument(loc, None)
    memory = memories[index]
    if f"{prefix}_slice_dim" in kwargs:
        dim = kwargs[f"{prefix}_slice_dim"]
        size = list(memory.like.size())
        start, end, _ = slice(kwargs[f"{prefix}_slice_start"], kwargs[f"{prefix}_slice_end"]).indices(size[dim])
        size[dim] = max(end - start, 0)
        numbers = [importer._import_argument(loc, number) for number in (dim, start, end, 1)]
        type_ = _memory_type(importer, memory.like, size)
        return importer.call(loc, node, "aten.slice.Tensor", COPY_REASON, [memory.value, *numbers], [type_]).result
    if f"{prefix}_size" in kwargs:
        size, stride = kwargs[f"{prefix}_size"], kwargs[f"{prefix}_stride"]
        offset = kwargs[f"{prefix}_storage_offset"] - memory.like.storage_offset()
        layout = [_integers(importer, loc, each) for each in (size, stride)]
        operands = [memory.value, *layout, importer._import_argument(loc, offset)]
        type_ = _memory_type(importer, memory.like, size)
        return importer.call(loc, node, "aten.as_strided.default", COPY_REASON, operands, [type_]).result
    return memory.value


def _memory_type(importer, like: torch.Tensor, size=None) -> ir.Type:
    value = importer._cc.create_vtensor_type(like.dtype, torch.Size(like.size() if size is None else size))
    return memory_type(value)


def _integers(importer, loc, numbers) -> ir.Value:
    values = [importer._import_argument(loc, int(number)) for number in numbers]
    with loc:
        integers = torch_type("list<int>", importer._c)
        return ir.Operation.create("torch.prim.ListConstruct", results=[integers], operands=values).result
