"""Rules that several op verifiers share. Each returns whether the op keeps the rule, having reported it if not."""

from collections.abc import Sequence
from functools import cache
from typing import Any, get_args, get_origin

from torch_mlir import ir

from dovetail.dialects.dovetail.types import RefType


def fail(op: ir.OpView, message: str) -> bool:
    """Reports `message` at the op's location, in MLIR's voice; always returns False."""
    op.location.emit_error(f"'{op.OPERATION_NAME}' op {message}")
    return False


def is_as_declared(op: ir.OpView) -> bool:
    """Whether operands, results and attributes are of the declared number and kinds.

    If not, IRDL's own check, which runs after ours, rejects the op and says why.
    """
    operands, results, attributes, variadic = _declared(type(op))  # type: ignore[arg-type]  # a class of ops is hashable
    if variadic is not None:
        operands = [variadic] * len(op.operands)
    if len(op.operands) != len(operands) or len(op.results) != len(results):
        return False
    if not all(name in op.attributes for name in attributes):
        return False
    values = zip([*op.operands, *op.results], [*operands, *results], strict=True)
    return all(_is_a(value.type, kind) for value, kind in values) and all(
        _is_a(op.attributes[name], kind) for name, kind in attributes.items()
    )


# What the hint of an operand without a number is, an iterable of values.
_MANY: tuple[Any, ...] = (Sequence,)


@cache
def _declared(op_class: type[ir.OpView]) -> tuple[list, list, dict[str, Any], Any]:
    """The kinds of an op's operands and results, of its attributes by name, and of operands without a number, if any.

    Remembered, since each op is verified after each pass.
    """
    hints = op_class.__annotations__
    operands = [get_args(hint)[0] for hint in hints.values() if get_origin(hint) is ir.Value]
    results = [get_args(hint)[0] for hint in hints.values() if get_origin(hint) is ir.OpResult]
    attributes = {name: hint for name, hint in hints.items() if get_origin(hint) is None}
    variadic = [get_args(get_args(hint)[0])[0] for hint in hints.values() if get_origin(hint) in _MANY]
    return operands, results, attributes, variadic[0] if variadic else None


def _is_a(given: ir.Type | ir.Attribute, kind: Any) -> bool:
    return kind is Any or isinstance(given, kind)


def has_sound_refs(op: ir.OpView) -> bool:
    """Checks what IRDL can't say of a ref's type: a static tensor, and one stride for each dimension."""
    for value in [*op.operands, *op.results]:
        if isinstance(value.type, RefType) and not value.type.is_sound:
            return fail(op, f"expects {RefType.SOUND}, got '{value.type}'")
    return True


def knows_attributes(op: ir.OpView, *names: str) -> bool:
    """Rejects an attribute that is neither the op's own nor discardable: IRDL lets a misspelt one pass."""
    for attribute in op.attributes:
        if attribute not in names and "." not in attribute and not attribute.endswith("SegmentSizes"):
            return fail(op, f"has no attribute '{attribute}', expected {_listed(names)}")
    return True


def is_one_of(op: ir.OpView, name: str, valid: tuple[str, ...]) -> bool:
    """Checks a string attribute against the words it may hold."""
    given = ir.StringAttr(op.attributes[name]).value
    if given in valid:
        return True
    return fail(op, f"expects '{name}' to be {_listed(valid)}, got '{given}'")


def is_integers(op: ir.OpView, name: str) -> bool:
    """Checks that an array attribute holds integers, none negative: sizes, or strides in elements."""
    for each in ir.ArrayAttr(op.attributes[name]):
        if not isinstance(each, ir.IntegerAttr) or each.value < 0:
            return fail(op, f"expects '{name}' to hold integers from 0 up, got {each}")
    return True


def is_count(op: ir.OpView, name: str) -> bool:
    """Checks an attribute that counts bytes."""
    value = ir.IntegerAttr(op.attributes[name]).value
    return value >= 0 or fail(op, f"expects '{name}' to be an integer from 0 up, got {value}")


def is_version_count(op: ir.OpView) -> bool:
    """Checks the optional `versions`: by how much the version counter moves, where that is not 1."""
    if "versions" not in op.attributes:
        return True
    versions = op.attributes["versions"]
    if isinstance(versions, ir.IntegerAttr) and versions.value >= 1:
        return True
    return fail(op, f"expects 'versions' to be an integer from 1 up, got {versions}")


def same_tensor(op: ir.OpView, value: ir.Value, ref: ir.Value) -> bool:
    """Checks that `value` (a value or a ref) has the shape and element type of the tensor that `ref` refers to."""
    given = value.type.tensor_type if isinstance(value.type, RefType) else value.type
    expected = ref.type.tensor_type
    if given == expected:
        return True
    return fail(op, f"expects a value of type '{expected}' to match '{ref.type}', got '{value.type}'")


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}" if quoted else "none"
