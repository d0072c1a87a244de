"""How a program's plain tensors make up the wrapper subclasses that its caller holds, as its functions' attributes say.

`dovetail.arguments` lists what the caller passes, `dovetail.results` what it gets. A function without them takes and
returns plain values, in order. See docs/decisions/0013-subclasses.md.
"""

import ast
from collections.abc import Mapping, Sequence, Set

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import ARGUMENTS, RESULTS
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.sizes.size_expressions import is_sound, used_symbols_of
from dovetail.dialects.sizes.symbols import KnownSize, sizes_map, symbols
from dovetail.dialects.statements.wrapped import Convention, Same, Wrapped

_FIELDS = {
    "class": str, "attributes": tuple, "parts": tuple, "context": str, "size": tuple, "stride": tuple, "versions": int
}  # fmt: skip
"""What the attribute of a wrapped tensor says, in the order of `Wrapped`; `versions` may be missing."""


def set_convention(function_op: func.FuncOp, convention: Convention) -> None:
    """States `convention`, if there is anything to state."""
    if not convention.is_plain:
        function_op.attributes[ARGUMENTS] = ir.ArrayAttr.get([_attribute(each) for each in convention.arguments])
        function_op.attributes[RESULTS] = ir.ArrayAttr.get([_attribute(result) for result in convention.results])


def convention(function_op: func.FuncOp) -> Convention | None:
    """What `function_op` states, None where it takes and returns plain values only.

    Raises:
        ValueError: for attributes that say nothing sensible, with what was expected.
    """
    if ARGUMENTS not in function_op.attributes and RESULTS not in function_op.attributes:
        return None
    if ARGUMENTS not in function_op.attributes or RESULTS not in function_op.attributes:
        raise ValueError(f"expects both '{ARGUMENTS}' and '{RESULTS}', or none of them")
    arguments, results = (_entries(function_op, name) for name in (ARGUMENTS, RESULTS))
    for argument in arguments:
        if isinstance(argument, Same):
            raise ValueError(f"'{ARGUMENTS}' expects positions and wrapped tensors, got a reference")
    for index, result in enumerate(results):
        if isinstance(result, Same):
            _check_same(result, index, len(arguments))
    for entry in (*arguments, *results):
        if isinstance(entry, Wrapped):
            _check_numbers(entry, symbols(function_op).keys())
    _check_positions(ARGUMENTS, arguments, len(function_op.type.inputs))
    _check_positions(RESULTS, results, len(function_op.type.results))
    return Convention(arguments, results)


def _entries(function_op: func.FuncOp, name: str) -> tuple:
    if not isinstance(function_op.attributes[name], ir.ArrayAttr):
        raise ValueError(f"expects '{name}' to be an array, got {function_op.attributes[name]}")
    return tuple(_entry(entry) for entry in ir.ArrayAttr(function_op.attributes[name]))


def _check_same(same: Same, index: int, arguments: int) -> None:
    if same.kind == "argument" and not 0 <= same.index < arguments:
        raise ValueError(f"'{RESULTS}' refers to argument {same.index}, expected one of {arguments}")
    if same.kind == "result" and not 0 <= same.index < index:
        raise ValueError(f"'{RESULTS}' refers to result {same.index}, expected one before result {index}")


def _check_numbers(wrapped: Wrapped, known: Set[int]) -> None:
    for number in wrapped.open_numbers():
        if not (isinstance(number, ir.AffineExpr) and is_sound(number) and used_symbols_of(number) <= known):
            expected = "its sizes and strides to be numbers, or by symbols that the function takes"
            raise ValueError(f"{wrapped.class_name} expects {expected}, got {number}")


def _check_positions(name: str, entries: Sequence, count: int) -> None:
    """Each plain value is used once."""
    own = [entry for entry in entries if not isinstance(entry, Same)]
    used = [position for each in own for position in ((each,) if isinstance(each, int) else each.positions())]
    if sorted(used) != list(range(count)):
        raise ValueError(f"'{name}' expects each position from 0 to {count - 1} once, got {used}")


def _attribute(value) -> ir.Attribute:
    match value:
        case int():
            return i64(value)
        case str():
            return ir.StringAttr.get(value)
        case tuple() if any(isinstance(each, ir.AffineExpr) for each in value):
            return sizes_map(value)
        case tuple():
            return ir.ArrayAttr.get([_attribute(each) for each in value])
        case Same():
            return ir.DictAttr.get({value.kind: _attribute(value.index)})
    said = (value.class_name, value.names, value.parts, value.context, value.size, value.stride)
    fields = zip(_FIELDS, (*said, value.versions or None), strict=True)
    return ir.DictAttr.get({name: _attribute(part) for name, part in fields if part is not None})


def _entry(attribute: ir.Attribute) -> int | Wrapped | Same:
    if isinstance(attribute, ir.IntegerAttr):
        return attribute.value
    if not isinstance(attribute, ir.DictAttr):
        raise ValueError(f"expects a position or a wrapped tensor, got {attribute}")
    fields = {named.name: _read(named.name, named.attr) for named in attribute}
    if set(fields) in ({"argument"}, {"result"}):
        (kind,) = fields
        return Same(kind, _typed(fields, kind, int))
    if {*fields, "versions"} != set(_FIELDS):
        raise ValueError(f"a wrapped tensor expects {', '.join(sorted(_FIELDS))}, got {', '.join(sorted(fields))}")
    fields = {"versions": 0} | fields
    class_name, names, _, *others = (_typed(fields, name, kind) for name, kind in _FIELDS.items())
    entries = [_entry(part) for part in attribute["parts"]]
    found = Wrapped(class_name, names, tuple(entry for entry in entries if not isinstance(entry, Same)), *others)
    if len(found.parts) != len(found.names):
        raise ValueError(f"{found.class_name} expects one part for each of its attributes {found.names}")
    if len(found.size) != len(found.stride):
        raise ValueError(f"{found.class_name} expects one stride a size, got {found.size} and {found.stride}")
    if ":" not in found.class_name:
        raise ValueError(f"expects a class as 'module:name', got '{found.class_name}'")
    try:
        ast.literal_eval(found.context)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"{found.class_name} expects a Python literal as its context, got {found.context}") from error
    return found


def _plain(attribute: ir.Attribute):
    match attribute:
        case ir.IntegerAttr() | ir.StringAttr():
            return attribute.value
        case ir.ArrayAttr():
            return tuple(_plain(part) for part in attribute)
    return attribute


def _read(name: str, attribute: ir.Attribute):
    if name in ("size", "stride") and isinstance(attribute, ir.AffineMapAttr):
        return tuple(map(_number, attribute.value.results))
    return _plain(attribute)


def _number(said: ir.AffineExpr) -> KnownSize:
    return said.value if isinstance(said, ir.AffineConstantExpr) else said


def _typed(fields: Mapping, name: str, kind: type):
    if not isinstance(fields[name], kind):
        raise ValueError(f"a wrapped tensor expects '{name}' to be a {kind.__name__}, got {fields[name]}")
    return fields[name]
