"""Which dimensions a reduction takes in; building sums, and reshaping what they add up."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.building.cloning import constant_none
from dovetail.dialects.sizes.symbols import KnownSize, in_types, known_sizes
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.sizes import static
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info, with_dtype, with_shape
from dovetail.passes.rewriting.constants import constant, dtype_number, integer, integer_list, integers, is_none
from dovetail.passes.rewriting.pointwise import with_known_sizes
from dovetail.passes.rewriting.rules import create


def reduced_dims(op: ir.Operation) -> list[int] | None:
    """The dimensions whose numbers `op` takes together, in order: all of them where no operand names one.

    None where they are not known.
    """
    info, index = shaped_info(op.operands[0].type), row(op).reduces_at
    if info is None or index is None:
        return None
    rank = len(info.shape)
    given = op.operands[index] if index < len(op.operands) else None
    # Of two operands, a number is the type of the result; a dimension of a tensor without any is none.
    if not rank or given is None or is_none(given) or (len(op.operands) == 2 and integer(given) is not None):
        return list(range(rank))
    single = integer(given)
    named = integers(given) if single is None else (single,)
    return None if named is None else sorted(dim % rank for dim in named) or list(range(rank))


SUM = "torch.aten.sum.dim_IntList"
SUMS, MEANS = (SUM, "torch.aten.sum"), ("torch.aten.mean.dim", "torch.aten.mean")


def sum_over(value: ir.Value, dims: Sequence[int], dtype: str = "") -> ir.Value:
    """Builds the sum of `value` without its dimensions `dims`, in element type `dtype` if one is given.

    The sizes that are left are known.
    """
    sizes = require_shaped_info(value.type).shape
    result = with_shape(value.type, static(size for dim, size in enumerate(sizes) if dim not in dims))
    number = dtype_number(dtype) if dtype else constant_none()
    operands = [value, integer_list(list(dims)), constant(False), number]
    return create(SUM, operands, with_dtype(result, dtype) if dtype else result)


def zero_less(total: ir.Value) -> ir.Value:
    """Builds 0 less a sum: of zeros it is 0, as the sum of negated ones."""
    return create("torch.aten.rsub.Scalar", [total, constant(0), constant(1)], total.type)


def quotient(total: ir.Value, count: int) -> ir.Value:
    """Builds the mean of `count` numbers whose sum is `total`."""
    return create("torch.aten.div.Scalar", [total, constant(float(count))], total.type)


def with_sizes(value: ir.Value, sizes: Sequence[KnownSize]) -> ir.Value:
    """Builds `value` in the shape `sizes`, one of which may be open, if it has another one."""
    if known_sizes(value) == tuple(sizes):
        return value
    listed = integer_list([size if isinstance(size, int) else -1 for size in sizes])
    made = create("torch.aten.reshape", [value, listed], with_shape(value.type, in_types(sizes)))
    return with_known_sizes(made, sizes)
