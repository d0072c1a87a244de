"""The Python numbers behind operands, and ops that take such numbers: lists, tensors of them, casts, expansions."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.building.cloning import constant_none
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.scalar_types import SCALAR_TYPES
from dovetail.dialects.torch_facts.types import (
    require_shaped_info,
    require_tensor_info,
    tensor_info,
    tensor_type,
    torch_type,
    with_dtype,
)
from dovetail.passes.rewriting.rules import create, is_alike, shape

ARANGE = "torch.aten.arange.start_step"


def integer(value: ir.Value) -> int | None:
    """The int that `value` is, None for any other value."""
    found = number(value)
    return found if isinstance(found, int) else None


def integers(value: ir.Value) -> tuple[int, ...] | None:
    """The ints of a list of constants, None for any other value."""
    op = made_by(value, LIST)
    found = [] if op is None else [integer(operand) for operand in op.operands]
    known = tuple(each for each in found if each is not None)
    return known if op is not None and len(known) == len(found) else None


def boolean(value: ir.Value) -> bool | None:
    """The truth value that a `torch.constant` makes, None for any other value."""
    op = made_by(value, "torch.constant.bool")
    return None if op is None else ir.BoolAttr(op.attributes["value"]).value


def is_none(value: ir.Value) -> bool:
    """Whether `value` is Python's None."""
    return made_by(value, "torch.constant.none") is not None


def constant(value: float) -> ir.Value:
    """Builds a `torch.constant` of an int, float or bool."""
    if isinstance(value, bool):
        name, attribute = "bool", ir.BoolAttr.get(value)
    elif isinstance(value, int):
        name, attribute = "int", i64(value)
    else:
        name, attribute = "float", ir.FloatAttr.get(ir.F64Type.get(), value)
    made = ir.Operation.create(f"torch.constant.{name}", results=[torch_type(name)], attributes={"value": attribute})
    return made.result


def integer_list(values: Sequence[int]) -> ir.Value:
    """Builds a list of ints."""
    return create(LIST, [constant(int(value)) for value in values], torch_type("list<int>"))


def dtype_number(dtype: str) -> ir.Value:
    """Builds PyTorch's number of the element type that it calls `dtype`, as its ops take it."""
    return constant(SCALAR_TYPES.index(dtype))


def cast(value: ir.Value, dtype: str) -> ir.Value:
    """Builds the conversion of a tensor to the element type `dtype`."""
    none = constant_none()
    operands = [value, dtype_number(dtype), none, none, none, constant(False), none]
    return create("torch.aten._to_copy", operands, with_dtype(value.type, dtype))


def as_large(value: ir.Value, result: ir.Value) -> ir.Value | None:
    """`value` with the sizes of `result`, None where these are open, or the element types differ."""
    if is_alike(value, result):
        return value
    given, wanted = tensor_info(value.type), tensor_info(result.type)
    if given is None or wanted is None or given.dtype != wanted.dtype:
        return None
    return create("torch.aten.expand", [value, integer_list(shape(result)), constant(False)], result.type)


def full(
    type_: ir.Type, value: ir.Value, device: ir.Value | None = None, sizes: Sequence[int] | None = None
) -> ir.Value:
    """Builds the tensor of `type_`, all of whose elements are the number `value`; on the CPU if `device` is None.

    `sizes` are for a type that leaves some open.
    """
    none, sizes = constant_none(), require_tensor_info(type_).shape if sizes is None else sizes
    operands = [integer_list(sizes), value, dtype_number(require_shaped_info(type_).dtype), none, device or none]
    return create("torch.aten.full", [*operands, constant(False)], type_)


def counting(size: int, dtype: str, device: str) -> ir.Value:
    """Builds the tensor of the numbers 0 to `size` - 1, of element type `dtype` on `device`."""
    operands = [constant(0), constant(size), constant(1), dtype_number(dtype), constant_none(), named(device)]
    return create(ARANGE, [*operands, constant(False)], tensor_type([size], dtype))


def named(device: str) -> ir.Value:
    """Builds the name of a device, in torch's words."""
    attributes = {"value": ir.StringAttr.get(device)}
    return ir.Operation.create("torch.constant.device", results=[torch_type("Device")], attributes=attributes).result
