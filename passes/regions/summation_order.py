"""How IREE adds up the numbers of some dimensions, and how many of them at once are still exact enough."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.types import TensorInfo, is_tensor, require_tensor_info
from dovetail.passes.rewriting.constants import integers
from dovetail.passes.rewriting.permutations import PERMUTE
from dovetail.passes.rewriting.rules import shape

IN_A_ROW = 32
"""How many rows the code may add one after the other. The rounding error grows with the root of it, and with this one
stays below three times that of ATen's sums, which are in cascades."""

_IN_A_LANE = 64
"""The same for neighbours in memory, in each lane of a vector: the last steps are between lanes."""

_VECTOR_BYTES = 64
"""Neighbours are added up by vectors where their number is a multiple of a vector's."""


def most_of(value: ir.Value, dims: Sequence[int]) -> int:
    """How many numbers of the dimensions `dims` may be added up at once."""
    lanes = lanes_of(value, dims)
    return lanes * (_IN_A_LANE if lanes > 1 else IN_A_ROW)


def lanes_of(value: ir.Value, dims: Sequence[int]) -> int:
    """How many numbers of the dimensions `dims` the code adds up at once."""
    info = require_tensor_info(value.type)
    lanes = _VECTOR_BYTES // info.itemsize
    if innermost(info) not in dims or info.shape[innermost(info)] % lanes:
        return 1
    return 1 if keeps_several(info, dims) and (_is_turned(value) or _is_contraction(value, dims)) else lanes


def innermost(info: TensorInfo) -> int:
    """The dimension whose elements are neighbours in memory; one of size 1 has none."""
    return max((dim for dim, size in enumerate(info.shape) if size > 1), default=0)


def keeps_several(info: TensorInfo, dims: Sequence[int]) -> bool:
    """Whether adding up `dims` gives more than one number."""
    return any(size > 1 for dim, size in enumerate(info.shape) if dim not in dims)


def _is_turned(value: ir.Value) -> bool:
    """Whether neighbours of `value`, an elementwise function of one tensor, are none in that tensor's memory."""
    op = producer(value)
    while op is not None and op.name != PERMUTE:
        tensors = [operand for operand in op.operands if is_tensor(operand.type)]
        if len(tensors) != 1 or kind(op) not in (Kind.POINTWISE, Kind.VIEW):
            return False
        op = producer(tensors[0])
    if op is None:
        return False
    source, order = require_tensor_info(op.operands[0].type), integers(op.operands[1])
    result = require_tensor_info(op.results[0].type)
    return order is not None and order[innermost(result)] % len(order) != innermost(source)


def _is_contraction(value: ir.Value, dims: Sequence[int]) -> bool:
    """Whether IREE takes the sum for a product of matrices: a factor lacks a dimension, and none of `dims`."""
    op = producer(value)
    if op is None or not row(op).multiplies:
        return False
    sizes = [shape(operand) for operand in op.operands if is_tensor(operand.type)]
    wide = [(1,) * (len(shape(value)) - len(each)) + each for each in sizes]
    whole = shape(value)
    lacks = [{dim for dim, size in enumerate(each) if size != whole[dim]} for each in wide]
    return any(lacks) and not any(each & set(dims) for each in lacks)
