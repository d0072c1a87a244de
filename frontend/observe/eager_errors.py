"""What eager refuses by element types and numbers: `mask - 1` of truth values, `gelu` of integers, `fill_` of 2**40.

Tracing meets no kernel, so it lets most of that through, and other ops compute something in its place.
"""

from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_unflatten

from dovetail.dialects.torch_facts.ops import row_of_name
from dovetail.dialects.torch_facts.row import Kind

_ERRORS = (RuntimeError, TypeError, ValueError)


class _Stand(NamedTuple):
    """What a tensor is to a kernel that takes any sizes."""

    dtype: torch.dtype
    dims: int


def eager_error(func: torch._ops.OpOverload, args: tuple, kwargs: dict[str, Any]) -> str | None:
    """The first line of the error that the CPU's kernel raises for arguments of these types, None if it raises none.

    Of elementwise ops and fills alone, whose kernels can be asked by tensors of one element, and of known numbers.
    """
    if not _takes_any_sizes(func, args):
        return None
    flat, spec = tree_flatten((args, kwargs))
    tensors = [each for each in flat if isinstance(each, torch.Tensor)]
    if any(each.device.type != "cpu" or each.layout is not torch.strided for each in tensors):
        return None
    if any(isinstance(each, torch.SymInt | torch.SymFloat | torch.SymBool) for each in flat):
        return None
    stands = (_Stand(each.dtype, each.dim()) if isinstance(each, torch.Tensor) else each for each in flat)
    # 1, 1.0 and True are equal keys.
    return _asked(func, tuple((type(each), each) for each in stands), spec)


def _takes_any_sizes(func: torch._ops.OpOverload, args: tuple) -> bool:
    if not isinstance(func, torch._ops.OpOverload) or func.namespace != "aten":
        return False
    facts = row_of_name(f"aten.{func._opname.removesuffix('_')}.{func._overloadname}")
    return facts.kind is Kind.POINTWISE or (facts.fills_at == 1 and isinstance(next(iter(args), None), torch.Tensor))


@lru_cache(maxsize=4096)
def _asked(func: torch._ops.OpOverload, typed: tuple, spec) -> str | None:
    with _disable_current_modes(), torch.no_grad():
        flat = [torch.ones([1] * each.dims, dtype=each.dtype) if kind is _Stand else each for kind, each in typed]
        args, kwargs = tree_unflatten(flat, spec)
        try:
            func(*args, **kwargs)
        except _ERRORS as error:
            return str(error).splitlines()[0]
    return None
