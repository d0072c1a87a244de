"""What `verify-level` asks of the ops in a function: that each belongs there."""

from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.attributes import FALLBACK
from dovetail.dialects.calls import is_extern
from dovetail.dialects.torch_facts.names import LOAD
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.passes.base import fail
from dovetail.passes.rewriting.cloning import FROM_PYTHON

_DIALECTS = ("dovetail", "torch", "func")
# Torch ops that compute nothing: Python's values, and the border to a region's memory.
_PASSED = (*FROM_PYTHON, LOAD)
# From here on the host computes nothing itself: it calls, and makes views.
_HOST_LEVELS = ("program", "regions", "launches")


def check_ops(name: str, ops: Sequence[ir.Operation], allowed: set[str], level: str, pass_name: str) -> None:
    """Raises PassError for one of the `ops` of `@name` that is not of the level's language.

    `allowed` are the ops of ours, by name, that may stand there.
    """
    for op in ops:
        dialect = op.name.partition(".")[0]
        if dialect not in _DIALECTS:
            raise fail(op, pass_name, f"has no place in '@{name}', expected an op of {', '.join(_DIALECTS)}")
        if dialect == "dovetail" and op.name not in allowed:
            raise fail(op, pass_name, f"has no place in '@{name}' at level '{level}'")
        if FALLBACK in op.attributes and not (is_extern(op) and isinstance(op.attributes[FALLBACK], ir.UnitAttr)):
            raise fail(op, pass_name, f"expects '{FALLBACK}', without a value, on library calls alone")
        if dialect == "torch" and level in _HOST_LEVELS and _computes(op):
            raise fail(op, pass_name, f"computes in '@{name}' at level '{level}', expected a call or a view")


def check_region_ops(ops: Sequence[ir.Operation], pass_name: str) -> None:
    """Raises PassError for one of the `ops` of a region that IREE knows nothing of."""
    for op in ops:
        if op.name.startswith("dovetail.") or is_extern(op):
            raise fail(op, pass_name, "has no place in a region, which IREE compiles")


def _computes(op: ir.Operation) -> bool:
    return op.name not in _PASSED and not is_extern(op) and kind(op) not in (Kind.VIEW, Kind.CONSTANT)
