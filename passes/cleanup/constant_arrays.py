"""What ops on constants give, computed by numpy: only what it rounds, wraps and converts as ATen does.

Left out are element types that numpy lacks or computes in another way (bfloat16, float16 with its wider intermediates),
functions that differ between mathematical libraries (`exp`, `sin`), and floating-point to integer, where what is out of
range is undefined. Arrays are kept small: of size 1 along each dimension that is known to repeat one element.
"""

import operator
from collections.abc import Callable, Mapping
from math import isfinite, isinf

import numpy
from torch_mlir import ir

from dovetail.dialects.torch_facts.names import LITERAL
from dovetail.dialects.torch_facts.numbers import number, uniform
from dovetail.dialects.torch_facts.reshapes import RESHAPES
from dovetail.dialects.torch_facts.types import TensorInfo
from dovetail.passes.rewriting.constants import ARANGE, integer, integers
from dovetail.passes.rewriting.rules import shape
from dovetail.passes.rewriting.slices import SLICE, slice_of

Arrays = Mapping[ir.Value, numpy.ndarray]

DTYPES = frozenset("bool int8 int16 int32 int64 uint8 float32 float64".split())


def _by_operators(*names: str) -> dict[str, Callable]:
    """Python's operators, which work on arrays, by the names of ATen's ops."""
    overloads = (f"{name}.{overload}" for name in names for overload in ("Tensor", "Scalar"))
    return {f"torch.aten.{each}": getattr(operator, each.partition(".")[0]) for each in overloads}


_ARITHMETIC = _by_operators("add", "sub", "mul")
_COMPARISONS = _by_operators("eq", "ne", "lt", "le", "gt", "ge")
_LOGIC: dict[str, Callable] = {
    f"torch.aten.{name}": getattr(numpy, name) for name in ("logical_not", "logical_and", "logical_or")
}
_VIEWS = (*RESHAPES, "torch.aten.permute", "torch.aten.expand", "torch.aten.select.int", SLICE)
_CASTS, _WHERE = ("torch.aten._to_copy", "torch.prims.convert_element_type"), "torch.aten.where.self"
_REMAINDER, _TRUNC = "torch.aten.remainder.Scalar", "torch.aten.trunc"


CREATIONS = (LITERAL, ARANGE, "torch.aten.full", "torch.aten.scalar_tensor", "torch.prim.NumToTensor.Scalar")
COMPUTATIONS = (*_ARITHMETIC, *_COMPARISONS, *_LOGIC, *_VIEWS, *_CASTS, _WHERE, _REMAINDER, _TRUNC)


def created(op: ir.Operation, info: TensorInfo, elements: int) -> numpy.ndarray | None:
    """What one of `CREATIONS` makes; None if it is not known, or more than `elements`."""
    if op.name not in (LITERAL, ARANGE):
        value = _element(uniform(op.results[0]), info.dtype)
        return None if value is None else value.reshape((1,) * len(info.shape))
    if info.numel > elements:
        return None
    if op.name == ARANGE:
        start, stop, step = (integer(operand) for operand in list(op.operands)[:3])
        if start is None or stop is None or step is None:
            return None
        return numpy.arange(start, stop, step, dtype=info.dtype)
    attribute = op.attributes["value"]
    is_read = isinstance(attribute, ir.DenseElementsAttr)
    return numpy.array(list(attribute), dtype=info.dtype).reshape(info.shape) if is_read else None


def computed(op: ir.Operation, info: TensorInfo, arrays: Arrays, elements: int) -> numpy.ndarray | None:
    """What one of `COMPUTATIONS` gives for `arrays`; None if it is not known, or more than `elements`."""
    with numpy.errstate(all="ignore"):
        if op.name in _VIEWS:
            found = _viewed(op, info, arrays[op.operands[0]], elements)
        elif op.name in _CASTS:
            found = _cast(arrays[op.operands[0]], info.dtype)
        elif op.name == _REMAINDER:
            found = _remainder(op, info, arrays)
        elif op.name == _TRUNC:
            found = numpy.trunc(arrays[op.operands[0]])
        elif op.name == _WHERE and op.operands[0] not in arrays:
            found = _either(op, info, arrays)
        else:
            found = _pointwise(op, info, arrays)
    return found if found is not None and found.size <= elements else None


def _pointwise(op: ir.Operation, info: TensorInfo, arrays: Arrays) -> numpy.ndarray | None:
    operands = list(op.operands)
    if op.name in _ARITHMETIC:
        operands, alphas = operands[:2], operands[2:]
        if info.dtype == "bool" or any(number(alpha) != 1 for alpha in alphas):
            return None
        function, dtypes = _ARITHMETIC[op.name], [info.dtype] * 2
    elif op.name in _COMPARISONS:
        function, dtypes = _COMPARISONS[op.name], [_compared(operands, arrays)] * 2
    elif op.name == _WHERE:
        function, dtypes = numpy.where, ["bool", info.dtype, info.dtype]
    else:
        function, dtypes = _LOGIC[op.name], ["bool"] * len(operands)
    values = [_array(*pair, arrays) for pair in zip(operands, dtypes, strict=True)]
    known = [value for value in values if value is not None]
    return function(*known) if len(known) == len(values) else None


def _either(op: ir.Operation, info: TensorInfo, arrays: Arrays) -> numpy.ndarray | None:
    """The one number that is chosen, whatever the condition is."""
    one, other = (_array(value, info.dtype, arrays) for value in list(op.operands)[1:])
    if one is None or other is None or one.size != 1 or one.tobytes() != other.tobytes():
        return None
    return one.reshape((1,) * len(info.shape))


def _remainder(op: ir.Operation, info: TensorInfo, arrays: Arrays) -> numpy.ndarray | None:
    """Of whole numbers; by 0 there is none, and eager raises."""
    divisor = _element(number(op.operands[1]), info.dtype)
    if divisor is None or not divisor or info.dtype == "bool" or info.is_floating_point:
        return None
    return numpy.remainder(arrays[op.operands[0]].astype(info.dtype), divisor)


def _compared(operands: list[ir.Value], arrays: Arrays) -> str:
    """The type in which elements are compared: that which PyTorch promotes to; "" where that is another array's."""
    dtypes = {arrays[operand].dtype for operand in operands if operand in arrays}
    scalars = [number(each) for each in operands if each not in arrays]
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    if dtype is None or any(isinstance(scalar, float) and dtype.kind != "f" for scalar in scalars):
        return ""
    return "int64" if dtype.kind == "b" else dtype.name


def _array(value: ir.Value, dtype: str, arrays: Arrays) -> numpy.ndarray | None:
    return _cast(arrays[value], dtype) if value in arrays else _element(number(value), dtype)


def _cast(array: numpy.ndarray, dtype: str) -> numpy.ndarray | None:
    """`array` as `dtype`, one of `DTYPES`; None where that is not defined for every number."""
    is_undefined = array.dtype.kind == "f" and numpy.dtype(dtype or "bool").kind in "iu"
    return None if is_undefined or not dtype else array.astype(dtype)


def _element(value: float | None, dtype: str) -> numpy.ndarray | None:
    """The number as an array of `dtype`; None if it does not fit."""
    if value is None or not dtype:
        return None
    if numpy.dtype(dtype).kind == "f":
        array = numpy.asarray(value).astype(dtype)
        return None if numpy.isinf(array) and not isinf(value) else array
    limits = (0, 1) if dtype == "bool" else (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
    fits = isfinite(value) and value == int(value) and limits[0] <= value <= limits[1]
    return numpy.asarray(int(value), dtype) if fits else None


def _viewed(op: ir.Operation, info: TensorInfo, array: numpy.ndarray, elements: int) -> numpy.ndarray | None:
    if array.size == 1:
        return array.reshape((1,) * len(info.shape))
    whole = numpy.broadcast_to(array, shape(op.operands[0]))
    if max(info.numel, whole.size) > elements:
        return None
    if op.name in RESHAPES:
        return whole.reshape(info.shape)
    if op.name == "torch.aten.expand":
        return numpy.broadcast_to(whole, info.shape)
    if op.name == SLICE:
        found = slice_of(op.results[0])
        return None if found is None else whole.take(range(found.start, found.stop, found.step), found.dim)
    if op.name == "torch.aten.permute":
        order = integers(op.operands[1])
        return None if order is None else whole.transpose(order)
    dim, index = (integer(operand) for operand in list(op.operands)[1:])
    return None if dim is None or index is None else whole.take(index, dim)
