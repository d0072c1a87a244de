"""What columns are added up of: which IREE stores if something else takes it, too."""

from collections.abc import Iterable, Sequence

from torch_mlir import ir

from dovetail.backends.elementary.row_sums import listed_dims
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.types import require_shaped_info, tensor_info

_LARGE = 1 << 18
"""Bytes from which a tensor is worth the work not to store it."""


def reduces_columns(op: ir.Operation) -> bool:
    """Whether `op` reduces dimensions of a tensor, and not its innermost one, whose rows IREE keeps near."""
    if kind(op) is not Kind.REDUCTION:
        return False
    shape, dims = require_shaped_info(op.operands[0].type).shape, listed_dims(op)
    return bool(dims) and len(shape) - 1 not in dims and shape[-1] != 1


def is_large(value: ir.Value) -> bool:
    """Whether `value` is a tensor of known sizes that is worth the work not to store it."""
    info = tensor_info(value.type)
    return info is not None and info.nbytes >= _LARGE and not info.is_complex


def reduced(ops: Sequence[ir.Operation]) -> set[ir.Value]:
    """The values that columns among `ops`, in order, are made of, directly or element by element."""
    found: set[ir.Value] = set()
    for op in reversed(ops):
        if reduces_columns(op) or (kind(op) in (Kind.POINTWISE, Kind.VIEW) and not found.isdisjoint(op.results)):
            found.update(op.operands)
    return found


def stages(ops: Iterable[ir.Operation]) -> dict[ir.Value, int]:
    """By result of `ops`, in order, how many reductions of columns it waits for, one after the other."""
    found: dict[ir.Value, int] = {}
    for op in ops:
        found |= dict.fromkeys(op.results, stage(op, found) + reduces_columns(op))
    return found


def stage(op: ir.Operation, known: dict[ir.Value, int]) -> int:
    """How many reductions of columns the operands of `op` wait for, where those of each value are `known`."""
    return max((known.get(value, 0) for value in op.operands), default=0)
