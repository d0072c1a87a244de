"""Which element types a decomposition of ours computes in, where PyTorch has one for the others."""

from collections.abc import Callable, Sequence

import torch
from torch._decomp import get_decompositions

from dovetail.dialects.torch_facts.empty import is_empty

_FULL = (torch.float32, torch.float64)
HALF_PRECISION = (torch.float16, torch.bfloat16)


def in_full_precision(table: dict[torch._ops.OpOverload, Callable]) -> dict[torch._ops.OpOverload, Callable]:
    """`table` for float32 and float64, as far as it goes; else PyTorch's decompositions, which round as eager does."""
    return {overload: _in_full_precision(overload, ours) for overload, ours in table.items()}


def in_any_precision(table: dict[torch._ops.OpOverload, Callable]) -> dict[torch._ops.OpOverload, Callable]:
    """`table` for floating-point numbers, in half precision in float32: of ops that eager, too, rounds once."""
    return {overload: _in_any_precision(overload, ours) for overload, ours in table.items()}


def _in_full_precision(overload: torch._ops.OpOverload, ours: Callable) -> Callable:
    by_pytorch = get_decompositions([overload])[overload]

    def decomposed(*given):
        has_none = any(is_empty(value) for value in given if isinstance(value, torch.Tensor))
        found = ours(*given) if _dtype(given) in _FULL and not has_none else NotImplemented
        return by_pytorch(*given) if found is NotImplemented else found

    return decomposed


def _in_any_precision(overload: torch._ops.OpOverload, ours: Callable) -> Callable:
    by_pytorch = get_decompositions([overload])[overload]

    def decomposed(*given):
        dtype = _dtype(given)
        if dtype in HALF_PRECISION:
            wide = (value.to(torch.float32) if isinstance(value, torch.Tensor) else value for value in given)
            return ours(*wide).to(dtype)
        return ours(*given) if dtype in _FULL else by_pytorch(*given)

    return decomposed


def _dtype(given: Sequence) -> torch.dtype | None:
    """The element type that all tensors among `given` have, and that is named there, if it is one."""
    stated = [value for value in given if isinstance(value, torch.Tensor | torch.dtype)]
    dtypes = {value.dtype if isinstance(value, torch.Tensor) else value for value in stated}
    return dtypes.pop() if len(dtypes) == 1 else None
