"""What eager refuses by element types and numbers: `mask - 1` of truth values, `gelu` of integers, `fill_` of 2**40.

Tracing meets no kernel, so it lets most of that through, and other ops compute something in its place, or nothing does
where the result is not used.
"""

import re
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_flatten, tree_unflatten

from dovetail.dialects.torch_facts.ops import row_of_name
from dovetail.dialects.torch_facts.row import Kind
from dovetail.frontend.decompose.table import decompositions

_ERRORS = (RuntimeError, TypeError, ValueError, IndexError)
_OF_DEVICES = (torch.OutOfMemoryError, torch.AcceleratorError)

_FUNCTIONS = (Kind.REDUCTION, Kind.MOVEMENT, Kind.LIBRARY)
# What errors about element types say. Of these functions alone a kernel may refuse the stand-ins for their sizes, too.
_OF_TYPES = re.compile(r"dtype|data type|scalar type|not implemented for '|does(n't| not) support \w+ (dtype|input)")

# Dimensions of a stand-in that have two elements: of forty of them, no memory holds as many.
_LONG = 8
# Elements that a result may have for which a kernel is asked: some tens of megabytes.
_MOST = 1 << 24


class _Stand(NamedTuple):
    """What decides of a tensor whether a kernel takes it, beside its sizes."""

    dtype: torch.dtype
    dims: int
    device: str  # its type


def eager_error(func: torch._ops.OpOverload, args: tuple, kwargs: dict[str, Any]) -> str | None:
    """The first line of the error that the devices' kernel raises for arguments of these types, None if it raises none.

    Kernels are asked by small tensors, and by known numbers; elementwise ops and fills take any sizes, of other
    functions only errors about types count. A function whose numbers may ask for a large result is not asked.
    """
    if not isinstance(func, torch._ops.OpOverload) or func.namespace != "aten":
        return None
    facts = row_of_name(f"aten.{func._opname.removesuffix('_')}.{func._overloadname}")
    is_fill = facts.fills_at == 1 and isinstance(next(iter(args), None), torch.Tensor)
    takes_any_sizes = facts.kind is Kind.POINTWISE or is_fill
    if not (takes_any_sizes or _is_told_by_types(func, facts.kind)):
        return None
    flat, spec = tree_flatten((args, kwargs))
    tensors = [value for value in flat if isinstance(value, torch.Tensor)]
    if not all(map(_can_be_asked, tensors)):
        return None
    if any(isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool) for value in flat):
        return None
    if not takes_any_sizes and _largest_result(flat) > _MOST:
        return None
    stands = (
        _Stand(each.dtype, each.dim(), each.device.type) if isinstance(each, torch.Tensor) else each for each in flat
    )
    # 1, 1.0 and True are equal keys.
    error = _asked(func, tuple((type(stand), stand) for stand in stands), spec)
    return error if error is None or takes_any_sizes or _OF_TYPES.search(error) else None


def _is_told_by_types(func: torch._ops.OpOverload, kind: Kind) -> bool:
    """Whether other code may run in place of the op's kernel, and the kernel can be asked: it draws nothing.

    A backward gets what its forward took.
    """
    is_replaced = kind in _FUNCTIONS or (kind is Kind.UNKNOWN and func in decompositions())
    return is_replaced and torch.Tag.nondeterministic_seeded not in func.tags and not func._opname.endswith("_backward")


def _can_be_asked(tensor: torch.Tensor) -> bool:
    """Whether this machine has kernels for such a tensor. A GPU's capture would record them."""
    if tensor.layout is not torch.strided or tensor.device.type not in ("cpu", "cuda"):
        return False
    if tensor.device.type == "cpu":
        return True
    return torch.cuda.device_count() > 0 and not torch.cuda.is_current_stream_capturing()


def _largest_result(flat: list) -> int:
    """How many elements the result of stand-ins may have: whole numbers may be its sizes."""
    stand_in = 2 ** min(max((value.dim() for value in flat if isinstance(value, torch.Tensor)), default=0), _LONG)
    return stand_in * prod(max(abs(value), 1) for value in flat if isinstance(value, int))


@lru_cache(maxsize=4096)
def _asked(func: torch._ops.OpOverload, typed: tuple, spec) -> str | None:
    with _disable_current_modes(), torch.no_grad():
        flat = [_tensor(value) if kind is _Stand else value for kind, value in typed]
        args, kwargs = tree_unflatten(flat, spec)
        try:
            func(*args, **kwargs)
        except _OF_DEVICES:
            raise
        except _ERRORS as error:
            return str(error).splitlines()[0]
    return None


def _tensor(stand: _Stand) -> torch.Tensor:
    """Ones, of sizes 2; the first of many sizes are 1.

    A GPU gets zeros, but for truth values: the index 1 lies out of a tensor of no dimensions, after which no work goes
    on there. What a CPU divides by is not 0, since integers have no quotient of it.
    """
    sizes = [1] * (stand.dims - _LONG) + [2] * min(stand.dims, _LONG)
    made = torch.zeros if stand.device == "cuda" and stand.dtype != torch.bool else torch.ones
    return made(sizes, dtype=stand.dtype, device=stand.device)
