"""What the ops on the user's memory are in Python: reads, writes, views, gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch_mlir import ir

from dovetail.backends.python import aten, tensors
from dovetail.backends.python.memory import filled
from dovetail.backends.python.on_values import view_function
from dovetail.backends.python.operator_calls import as_tuple, gradient
from dovetail.dialects import dovetail as ours
from dovetail.dialects.attributes import GRADIENT_STRIDES, IN_PLACE
from dovetail.dialects.by_key import by_key
from dovetail.dialects.dovetail.types import OPEN
from dovetail.dialects.memory.copied_writes import is_copied
from dovetail.dialects.memory.named_memory import lies_as_stated
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import attribute

if TYPE_CHECKING:
    from dovetail.backends.python.emitter import Emitter


def _said(emitter: Emitter, argument: ir.Attribute, numbers: Iterator[ir.Value]) -> str:
    """An argument of a view function; the open numbers in it are the next of `numbers`."""
    if isinstance(argument, ir.ArrayAttr):
        return f"[{', '.join(_said(emitter, part, numbers) for part in argument)}]"
    is_open = isinstance(argument, ir.IntegerAttr) and argument.value == OPEN
    return emitter.name(next(numbers)) if is_open else repr(aten.python_value(argument))


def _read(emitter: Emitter, op: ours.ReadOp) -> None:
    if op.value not in emitter.aliases:
        emitter.line(f"{emitter.name(op.value)} = {emitter.name(op.ref)}.clone()")


def _write(emitter: Emitter, op: ours.WriteOp) -> None:
    """A value in place already is written only where its region could not take the memory itself."""
    if len(emitter.run) > 1 and is_copied(op):
        _write_together(emitter, op)
        return
    write = emitter.bound(f"write_{op.mode_name}", tensors.WRITES[op.mode_name])
    ref, value, count = emitter.name(op.ref), emitter.name(op.value), op.version_count
    is_in_place, indent = IN_PLACE in op.attributes, ""
    if is_in_place and len(emitter.run) > 1:
        if op == emitter.run[0].opview:
            ops = [each.opview for each in emitter.run]
            are_the_same = " and ".join(f"{emitter.name(each.value)} is {emitter.name(each.ref)}" for each in ops)
            _otherwise(emitter, "", are_the_same, ops)
        indent = "    "
    if is_in_place:
        # Mostly it is the argument itself, which costs less to ask.
        _otherwise(emitter, indent, f"{value} is {ref} or {ref}.data_ptr() == {value}.data_ptr()", [op])
        indent += "    "
    emitter.line(f"{indent}{write}({ref}, {value})")
    if count > 1:
        emitter.line(f"{indent}{_moved(emitter, [ref], count - 1)}")


def _write_together(emitter: Emitter, op: ours.WriteOp) -> None:
    """Whole numbers that are copied one after the other are copied by the first of them."""
    if op != emitter.run[0].opview:
        return
    write, ops = emitter.bound("write_numbers", tensors.write_numbers), [each.opview for each in emitter.run]
    refs, values = ([emitter.name(getattr(each, name)) for each in ops] for name in ("ref", "value"))
    emitter.line(f"{write}(({as_tuple(refs)}), ({as_tuple(values)}))")


def _otherwise(emitter: Emitter, indent: str, are_in_place: str, ops: Sequence[ours.WriteOp]) -> None:
    """What comes next is done unless the values of `ops` `are_in_place`, where at most version counters move."""
    by_count = by_key((op.version_count, emitter.name(op.ref)) for op in ops if op.version_count)
    if not by_count:
        emitter.line(f"{indent}if not ({are_in_place}):")
        return
    emitter.line(f"{indent}if {are_in_place}:")
    for count, refs in by_count.items():
        emitter.line(f"{indent}    {_moved(emitter, refs, count)}")
    emitter.line(f"{indent}else:")


def _moved(emitter: Emitter, refs: list[str], count: int) -> str:
    """The call that moves the version counters of `refs` on by `count`."""
    times = f" * {count}" if count > 1 else ""
    return f"{emitter.bind('increment_versions', tensors.increment_versions)}(({as_tuple(refs)}){times})"


def _own(emitter: Emitter, op: ours.OwnOp) -> None:
    """Eager's strides are part of the promise; a copy happens only where a kernel left others.

    And of what an argument holds, which `plan-epilogue` says by itself; before it, the text means the same.
    """
    if lies_as_stated(op):
        emitter.line(f"{emitter.name(op.ref)} = {emitter.name(op.value)}")
        return
    owned = emitter.bound("with_strides", tensors.with_strides)
    is_held = isinstance(memory_root(op.value).type, ours.RefType)
    value = f"{emitter.name(op.value)}.clone()" if is_held else emitter.name(op.value)
    strides = as_tuple(filled(emitter, op.ref.type.strides, op.numbers))
    emitter.line(f"{emitter.name(op.ref)} = {owned}({value}, ({strides}))")


def _view(emitter: Emitter, op: ours.ViewOp) -> None:
    name, mode = op.callee_name.removesuffix(".default").replace(".", "_"), op.sets_grad_mode
    function = emitter.bind(name if mode is None else f"{name}_grad_{mode}", view_function(op.callee_name, mode))
    numbers = iter(op.numbers)
    arguments = [emitter.name(op.ref), *(_said(emitter, argument, numbers) for argument in ir.ArrayAttr(op.args))]
    if op.callee_name == "aten.as_strided.default":
        arguments[-1] = f"{emitter.name(op.ref)}.storage_offset() + {arguments[-1]}"
    emitter.namespace.setdefault("torch", torch)
    index = f"[{op.output_index}]" if op.output_index >= 0 else ""
    emitter.line(f"{emitter.name(op.results[0])} = {function}({', '.join(arguments)}){index}")


def _set_metadata(emitter: Emitter, op: ours.SetMetadataOp) -> None:
    ref = emitter.name(op.ref)
    stated = filled(emitter, [None if number == OPEN else number for number in op.stated], op.numbers)
    rank = len(ir.ArrayAttr(op.size))
    size, stride = ", ".join(stated[:rank]), ", ".join(stated[rank:-1])
    emitter.line(f"{ref}.as_strided_([{size}], [{stride}], {ref}.storage_offset() + {stated[-1]})")
    if op.version_count > 1:
        emitter.line(_moved(emitter, [ref], op.version_count - 1))


def _number(emitter: Emitter, op: ours.NumberOp) -> str:
    read = f"{emitter.name(op.ref)}.item()"
    return f"bool({read})" if op.is_truth else read


def _gradient(emitter: Emitter, op: ours.GradientOp) -> None:
    value = gradient(emitter, op.value, attribute(op, GRADIENT_STRIDES))
    emitter.line(f"gradients[{emitter.arguments.index(op.of)}] = {value}")


def _simple(said: Callable[[Emitter, Any], str]) -> Callable[[Emitter, Any], None]:
    """What emits an op that is one statement, or one expression."""
    return lambda emitter, op: emitter.assign(op.operation.results, said(emitter, op))


REFS: dict[type[ir.OpView], Callable[[Emitter, Any], None]] = {
    ours.ReadOp: _read,
    ours.WriteOp: _write,
    ours.CopyOp: _simple(lambda emitter, op: f"{emitter.bound('copy', torch.Tensor.clone)}({emitter.name(op.value)})"),
    ours.OwnOp: _own,
    ours.ViewOp: _view,
    ours.DetachOp: _simple(lambda emitter, op: f"{emitter.name(op.ref)}.detach()"),
    ours.SetMetadataOp: _set_metadata,
    ours.TouchOp: _simple(lambda emitter, op: _moved(emitter, [emitter.name(op.ref)], op.version_count)),
    ours.SetGradModeOp: _simple(
        lambda emitter, op: f"{emitter.bind('set_grad_mode', torch._C._set_grad_enabled)}({op.is_enabled})"
    ),
    ours.NumberOp: _simple(_number),
    ours.TangentOp: _simple(lambda *_: "tangents.pop(0)"),
    ours.GradientOp: _gradient,
}
