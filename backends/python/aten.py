"""How ops of the torch dialect are said in Python: constants, arguments, and ops that are none of ATen's."""

from collections.abc import Callable
from typing import Any

import torch
from torch_mlir import ir

from dovetail.backends.python.literals import literal
from dovetail.dialects.attributes import DEVICE
from dovetail.dialects.statements.stated import stated
from dovetail.dialects.torch_facts import names
from dovetail.dialects.torch_facts.arithmetic import ARITHMETIC, CONVERSIONS
from dovetail.dialects.torch_facts.ops import is_constant
from dovetail.dialects.torch_facts.scalar_types import SCALAR_TYPES
from dovetail.dialects.torch_facts.types import require_tensor_info
from dovetail.errors import ModuleError

_LAYOUTS = ("strided", "sparse_coo", "sparse_csr", "_mkldnn")
_MEMORY_FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
_NUMBERED = {"ScalarType": SCALAR_TYPES, "Layout": _LAYOUTS, "MemoryFormat": _MEMORY_FORMATS}
_DTYPES = {name: value for name, value in vars(torch).items() if isinstance(value, torch.dtype)}


def constant(op: ir.Operation, named: dict[ir.Value, str]) -> str | None:
    """The Python expression of a constant or a list of constants, None for any other op."""
    if op.name in CONVERSIONS:
        return f"{CONVERSIONS[op.name]}({named[op.operands[0]]})"
    if op.name in ARITHMETIC:
        return ARITHMETIC[op.name].format(*(named[value] for value in op.operands))
    match op.name:
        case "torch.constant.none":
            return "None"
        case "torch.constant.bool" | "torch.constant.int" | "torch.constant.float" | "torch.constant.number":
            return expression(python_value(op.attributes["value"]))
        case "torch.constant.str":
            return repr(ir.StringAttr(op.attributes["value"]).value)
        case "torch.constant.device":
            return f"torch.device({ir.StringAttr(op.attributes['value']).value!r})"
        case names.LIST if is_constant(op):
            return f"[{', '.join(named[value] for value in op.operands)}]"
    return None


def expression(value) -> str:
    """`value` as Python source; infinities and NaN have no literal."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f"float('{value}')"
    return repr(value)


def python_value(attribute: ir.Attribute):
    """The Python value of an attribute: number, truth value, list; a dtype's name becomes the dtype."""
    match attribute:
        case ir.BoolAttr() | ir.FloatAttr():
            return attribute.value
        case ir.IntegerAttr():
            is_bool = attribute.type == ir.IntegerType.get_signless(1, attribute.context)
            return bool(attribute.value) if is_bool else attribute.value
        case ir.ArrayAttr():
            return [python_value(part) for part in attribute]
        case ir.StringAttr():
            return _DTYPES[attribute.value]
        case ir.UnitAttr():
            return None
    raise NotImplementedError(f"attribute {attribute} has no Python value")


def arguments(target: torch._ops.OpOverload, operands: list[str]) -> str:
    """The call's argument list: positional, then by name; numbered types by their names; defaults left out."""
    schema = target._schema.arguments
    if len(schema) != len(operands):
        valid = ", ".join(argument.name for argument in schema) or "none"
        raise ModuleError(f"{target} takes {len(schema)} arguments, got {len(operands)}; they are {valid}")
    positional, named = [], []
    for argument, operand in zip(schema, operands, strict=True):
        text = _numbered(str(argument.real_type), operand)
        if str(argument.real_type) == "number" and text.startswith("int("):
            text = text.removeprefix("int(").removesuffix(")")  # the type of the result depends on it
        if argument.kwarg_only:
            if not (argument.has_default_value() and expression(argument.default_value) == text):
                named.append(f"{argument.name}={text}")
        else:
            positional.append((argument, text))
    while positional and positional[-1][0].has_default_value():
        argument, text = positional[-1]
        if expression(argument.default_value) != text:
            break
        positional.pop()
    return ", ".join([*(text for _, text in positional), *named])


def _numbered(real_type: str, operand: str) -> str:
    """torch-mlir says dtypes, layouts and memory formats as numbers."""
    choices = _NUMBERED.get(real_type.removeprefix("Optional[").removesuffix("]"))
    if choices is None or operand == "None":
        return operand
    if not operand.isdecimal() or int(operand) not in range(len(choices)):
        raise ModuleError(f"PyTorch's type {real_type} has no number {operand}, valid are 0 to {len(choices) - 1}")
    return f"torch.{choices[int(operand)]}"


def _literal(emitter, op: ir.Operation) -> None:
    device = stated(op, DEVICE, ir.StringAttr) if DEVICE in op.attributes else emitter.home
    emitter.names[op.results[0]] = emitter.bind("literal", literal(op).to(device))


def _list_unpack(emitter, op: ir.Operation) -> str:
    parts = emitter.name(op.operands[0])
    return f"{parts}[0]" if len(op.results) == 1 else parts


def _number_to_tensor(emitter, op: ir.Operation) -> str:
    emitter.namespace.setdefault("torch", torch)
    dtype = require_tensor_info(op.results[0].type).dtype
    return f"torch.tensor({emitter.name(op.operands[0])}, dtype=torch.{dtype}, device='cpu')"


SPECIAL: dict[str, Callable[[Any, ir.Operation], str | None]] = {
    names.LITERAL: _literal,
    names.LIST: lambda emitter, op: f"[{', '.join(map(emitter.name, op.operands))}]",
    names.UNPACK: _list_unpack,
    "torch.prim.NumToTensor.Scalar": _number_to_tensor,
    # A destination is written once, before it is read: the value is the memory, under the memory's name.
    names.LOAD: lambda *_: None,
    names.STORE: lambda emitter, op: "{1}.copy_({0})".format(*map(emitter.name, op.operands)),
}
"""Ops that are none of ATen's: the expression that gives what they do, None where nothing runs."""
