"""Custom ops with effects: `with_effects` nodes, by which tracing orders them, and `auto_functionalized` ones.

Library calls keep their order in the IR, so the tokens of `with_effects(token, op, *arguments)` are no values there.

Of an op that writes its arguments, tracing makes a function: it returns its own results, then what it left in each
tensor that it wrote. In the IR the tensors are copied to memory (`!torch.tensor`), and the op runs on that memory or on
views of it. Later ops use the values that the memory then holds. An error in the op finds nothing that the user could
see written.
"""

from dataclasses import dataclass
from typing import Any, cast

import torch
from torch_mlir import ir

from dovetail.dialects.statements.effects import Effect, state_effect
from dovetail.dialects.torch_facts.types import is_torch_type, memory_type
from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.bound_arguments import is_written
from dovetail.frontend.to_ir.building import listed

REASON = "effect: an op that writes its arguments"
ORDERED_REASON = "effect: ordered, as registered for the op"
COPY_REASON = "memory for an op that writes its arguments"


def import_with_effects(importer, node: torch.fx.Node) -> None:
    """Imports the op as a library call; the node's results are the next token, which is bound to nothing, and its."""
    _, target, *arguments = node.args
    if not isinstance(target, torch._ops.OpOverload):
        raise UnsupportedError(f"{source_line(node)}: effects of {target} are not supported, expected an operator")
    values = list(node.meta["val"])[1:] if target._schema.returns else []
    results = [importer._cc.value_info_to_type(value) for value in values]
    op = importer.library_call(node, target, ORDERED_REASON, arguments, node.kwargs, results)
    importer.bind_results(node, [None, *op.results])


@dataclass(frozen=True)
class _Memory:
    """A copy of a tensor, and what the tensor looked like while tracing."""

    value: ir.Value
    like: torch.Tensor


def import_auto_functionalized_v2(importer, node: torch.fx.Node) -> None:
    """The written tensors are `_all_bases`; `_x_base_index` and more say which view of which of them argument x is."""
    (target,) = cast(tuple[torch._ops.OpOverload], node.args)
    given: dict[str, Any] = dict(node.kwargs)
    memories = [_copy(importer, node, base) for base in given.pop("_all_bases")]
    arguments = {}
    for argument in target._schema.arguments:
        prefix = f"_{argument.name}"
        if not is_written(argument):
            arguments[argument.name] = given[argument.name]
        elif f"{prefix}_length" in given:
            arguments[argument.name] = _views(importer, node, given, prefix, memories)
        else:
            arguments[argument.name] = _view(importer, node, given, prefix, memories)
    _call(importer, node, target, arguments, memories)


def import_auto_functionalized(importer, node: torch.fx.Node) -> None:
    """The older form: the written arguments, tensors or lists of them, stand by their names, each on its own."""
    (target,) = cast(tuple[torch._ops.OpOverload], node.args)
    arguments: dict[str, Any] = dict(node.kwargs)
    memories = []
    for argument in target._schema.arguments:
        value = arguments[argument.name]
        if not is_written(argument) or value is None:
            continue
        if not isinstance(value, torch.fx.Node):
            raise UnsupportedError(
                f"{source_line(node)}: a list that {target} writes is not supported in this form, set"
                " torch._inductor.config.enable_auto_functionalized_v2"
            )
        memories.append(_copy(importer, node, value))
        arguments[argument.name] = memories[-1].value
    _call(importer, node, target, arguments, memories)


def _call(importer, node, target, arguments: dict, memories: list[_Memory]) -> None:
    own = [] if not target._schema.returns else list(node.meta["val"])[: len(target._schema.returns)]
    if any(isinstance(value, list | tuple) for value in own):
        raise UnsupportedError(f"{source_line(node)}: {target} writes its arguments and returns a list: not supported")
    results = [importer._cc.value_info_to_type(value) for value in own]
    op = importer.library_call(node, target, REASON, (), arguments, results)
    held = [_held(importer, node, memory) for memory in memories]
    # An op that returns nothing returns one None.
    importer.bind_results(node, [*(op.results if own else [None]), *held])


def _copy(importer, node, base: torch.fx.Node) -> _Memory:
    """Memory with the strides that were traced, which views of it rely on, and the value of `base` in it."""
    like, value = base.meta["val"], importer.resolve_node_value(base)
    if any(size > 1 and stride == 0 for size, stride in zip(like.size(), like.stride(), strict=True)):
        raise UnsupportedError(f"{source_line(node)}: an op that writes an expanded tensor is not supported")
    type_ = _memory_type(importer, like)
    none, false = importer.argument(None), importer.argument(False)
    operands = [value, *(_integers(importer, each) for each in (like.size(), like.stride())), none, none, none, none]
    memory = importer.call(node, "aten.new_empty_strided.default", COPY_REASON, operands, [type_]).result
    copied = importer.call(node, "aten.copy_.default", COPY_REASON, [memory, value, false], [type_])
    state_effect(copied, Effect.WRITES)
    return _Memory(memory, like)


def _held(importer, node, memory: _Memory) -> ir.Value:
    """The value that the memory holds now; nothing writes it any more."""
    result = importer._cc.tensor_to_vtensor_type(memory.like)
    return importer.call(node, "aten.alias.default", COPY_REASON, [memory.value], [result]).result


def _views(importer, node, given: dict, prefix: str, memories: list[_Memory]) -> ir.Value:
    length = given[f"{prefix}_length"]
    if length is None:
        return importer.argument(None)
    views = [_view(importer, node, given, f"{prefix}_{index}", memories) for index in range(length)]
    optional = any(is_torch_type(view.type, "none") for view in views)
    return listed("optional<tensor>" if optional else "tensor", views)


def _view(importer, node, given: dict, prefix: str, memories: list[_Memory]) -> ir.Value:
    """The argument that `prefix` describes: none, the whole memory, a slice of it, or any strided view."""
    index = given[f"{prefix}_base_index"]
    if index is None:
        return importer.argument(None)
    memory = memories[index]
    if f"{prefix}_slice_dim" in given:
        callee, dim, size = "aten.slice.Tensor", given[f"{prefix}_slice_dim"], list(memory.like.size())
        start, end, _ = slice(given[f"{prefix}_slice_start"], given[f"{prefix}_slice_end"]).indices(size[dim])
        size[dim] = max(end - start, 0)
        operands = [importer.argument(number) for number in (dim, start, end, 1)]
    elif f"{prefix}_size" in given:
        callee, size = "aten.as_strided.default", given[f"{prefix}_size"]
        offset = given[f"{prefix}_storage_offset"] - memory.like.storage_offset()
        layout = [_integers(importer, numbers) for numbers in (size, given[f"{prefix}_stride"])]
        operands = [*layout, importer.argument(offset)]
    else:
        return memory.value
    type_ = _memory_type(importer, memory.like, size)
    return importer.call(node, callee, COPY_REASON, [memory.value, *operands], [type_]).result


def _memory_type(importer, like: torch.Tensor, size=None) -> ir.Type:
    value = importer._cc.create_vtensor_type(like.dtype, torch.Size(like.size() if size is None else size))
    return memory_type(value)


def _integers(importer, numbers) -> ir.Value:
    return listed("int", [importer.argument(int(number)) for number in numbers])
