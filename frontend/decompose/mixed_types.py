"""Operands of two element types, converted beforehand: IREE takes bytes for signed numbers, and truth values for -1.

It dies of truth values that become bytes, and of most pairs of types that it compares.
"""

from collections.abc import Callable, Iterable

import torch

aten = torch.ops.aten

_COMPARISONS = (aten.eq.Tensor, aten.ne.Tensor, aten.lt.Tensor, aten.le.Tensor, aten.gt.Tensor, aten.ge.Tensor)
_BITWISE = (aten.bitwise_and.Tensor, aten.bitwise_or.Tensor, aten.bitwise_xor.Tensor)


def promoted(left: torch.Tensor, right: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Both as the type that they promote to."""
    dtype = torch.result_type(left, right)
    return left.to(dtype), right.to(dtype)


def is_mistaken(*operands: torch.Tensor | float) -> bool:
    """Whether bytes or truth values stand beside tensors of another type."""
    dtypes = _dtypes(operands)
    return len(dtypes) > 1 and not dtypes.isdisjoint((torch.bool, torch.uint8))


def _dtypes(operands: Iterable[torch.Tensor | float]) -> set[torch.dtype]:
    return {each.dtype for each in operands if isinstance(each, torch.Tensor)}


def _compared(comparison: torch._ops.OpOverload) -> Callable:
    def compare(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return comparison(*promoted(left, right)) if len(_dtypes((left, right))) > 1 else NotImplemented

    return compare


def _computed(op: torch._ops.OpOverload) -> Callable:
    def compute(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return op(*promoted(left, right)) if is_mistaken(left, right) else NotImplemented

    return compute


def _where(condition: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    return aten.where.self(condition, *promoted(left, right)) if is_mistaken(left, right) else NotImplemented


def _cat(tensors: list[torch.Tensor], dim: int = 0) -> torch.Tensor:
    if not is_mistaken(*tensors):
        return NotImplemented
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = torch.promote_types(dtype, tensor.dtype)
    return aten.cat([tensor.to(dtype) for tensor in tensors], dim)


MIXED_TYPES: dict[torch._ops.OpOverload, Callable] = {
    **{comparison: _compared(comparison) for comparison in _COMPARISONS},
    **{op: _computed(op) for op in (*_BITWISE, aten.mul.Tensor)},
    aten.where.self: _where,
    aten.cat.default: _cat,
}
