"""Building sums, and reshaping what they add up."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.torch_facts.types import with_dtype, with_shape
from dovetail.passes.rewriting.cloning import constant_none
from dovetail.passes.rewriting.constants import constant, dtype_number, integer_list
from dovetail.passes.rewriting.rules import create, shape

SUM = "torch.aten.sum.dim_IntList"


def sum_over(value: ir.Value, dims: Sequence[int], dtype: str = "") -> ir.Value:
    """Builds the sum of `value` without its dimensions `dims`, in element type `dtype` if one is given."""
    result = with_shape(value.type, [size for dim, size in enumerate(shape(value)) if dim not in dims])
    number = dtype_number(dtype) if dtype else constant_none()
    operands = [value, integer_list(list(dims)), constant(False), number]
    return create(SUM, operands, with_dtype(result, dtype) if dtype else result)


def zero_less(total: ir.Value) -> ir.Value:
    """Builds 0 less a sum: of zeros it is 0, as the sum of negated ones."""
    return create("torch.aten.rsub.Scalar", [total, constant(0), constant(1)], total.type)


def quotient(total: ir.Value, count: int) -> ir.Value:
    """Builds the mean of `count` numbers whose sum is `total`."""
    return create("torch.aten.div.Scalar", [total, constant(float(count))], total.type)


def with_sizes(value: ir.Value, sizes: Sequence[int]) -> ir.Value:
    """Builds `value` in the shape `sizes`, if it has another one."""
    if shape(value) == tuple(sizes):
        return value
    return create("torch.aten.reshape", [value, integer_list(list(sizes))], with_shape(value.type, sizes))
