"""Rules that several op verifiers share. Each returns whether the op keeps the rule, having reported it if not."""

from torch_mlir import ir

from dovetail.dialects.dovetail.types import RefType


def fail(op: ir.OpView, message: str) -> bool:
    """Reports `message` at the op's location, in MLIR's voice; always returns False."""
    op.location.emit_error(f"'{op.OPERATION_NAME}' op {message}")
    return False


def has_attributes(op: ir.OpView, *names: str) -> bool:
    """Whether IRDL's own check, which runs after ours, will find every attribute; if not, it says so better."""
    return all(name in op.attributes for name in names)


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
