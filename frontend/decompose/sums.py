"""Sums, means, products and norms, in the precision that eager adds up in."""

from collections.abc import Callable

import torch

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.frontend.decompose.precision import HALF_PRECISION

aten = torch.ops.aten


def counted(value: torch.Tensor, dims: list[int]):
    """How many elements `value` has along `dims`; a number that Dynamo leaves open stays so."""
    count = 1
    for dim in dims:
        count = count * value.size(dim)  # `math.prod` would ask what an open size is now
    return count


def divisor(count):
    """A count as what a tensor is divided by: a number of Python's that is known is a float."""
    return float(count) if isinstance(count, int) else count


def _wide(reduction: torch._ops.OpOverload) -> Callable:
    """IREE adds up in the element type, eager in float32: 20000 bfloat16 numbers came out 80 % too small."""

    def reduce(value: torch.Tensor, *args, dtype: torch.dtype | None = None, **kwargs) -> torch.Tensor:
        result = value.dtype if dtype is None else dtype
        if result in HALF_PRECISION:
            return reduction(value.to(result).to(torch.float32), *args, **kwargs).to(result)
        return reduction(value.to(result), *args, **kwargs) if value.dtype in HALF_PRECISION else NotImplemented

    return reduce


def _vector_norm(
    value: torch.Tensor,
    ord: float = 2,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> torch.Tensor:
    """The norms that are sums, as such: IREE adds up the whole one after the other."""
    result = value.dtype if dtype is None else dtype
    if not value.is_floating_point() or value.dim() == 0 or is_empty(value):
        return _wide(aten.linalg_vector_norm.default)(value, ord, dim, keepdim, dtype=dtype)
    dims = [each % value.dim() for each in dim] if dim else list(range(value.dim()))
    if ord != 0 and all(value.size(index) == 1 for index in dims):
        # As in eager, of a number whose power overflows, too.
        size = value.to(result).abs()
        return size if keepdim else size.squeeze(dims)
    if ord not in (1, 2):
        return _wide(aten.linalg_vector_norm.default)(value, ord, dim, keepdim, dtype=dtype)
    wide = value.to(torch.float32 if result in HALF_PRECISION else result)
    total = (wide * wide if ord == 2 else wide.abs()).sum(dims, keepdim)
    return (total.sqrt() if ord == 2 else total).to(result)


SUMS: dict[torch._ops.OpOverload, Callable] = {
    reduction: _wide(reduction)
    for reduction in (aten.sum.dim_IntList, aten.mean.default, aten.mean.dim, aten.prod.default, aten.prod.dim_int)
} | {aten.linalg_vector_norm.default: _vector_norm}
