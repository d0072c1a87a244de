"""A region's ops as library calls: what the passes share that take regions back."""

from torch_mlir import ir

from dovetail.dialects.attributes import DEVICE, SIZES, STRIDES, TURNED
from dovetail.dialects.building.cloning import clone
from dovetail.dialects.dovetail.ops.copy import copy
from dovetail.dialects.reading import copy_attributes
from dovetail.dialects.statements.calls import extern
from dovetail.dialects.statements.regions import is_copy
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind

_KEPT = (STRIDES, SIZES, DEVICE, TURNED)
"""What is said of an op that is as true of the library call in its place."""


def clone_as_library_call(
    op: ir.Operation, values: dict[ir.Value, ir.Value], reason: str, is_fallback: bool = False
) -> None:
    """Builds a library call with `reason` that does what `op` does, operands and results going through `values`.

    Views and Python's values are no calls: they are cloned as they are. A copy is a copy.
    """
    if is_copy(op):
        values[op.results[0]] = copy(values[op.operands[0]]).copied
        return
    cloned, name = clone(op, values), aten_name(op)
    if name is not None and kind(op) not in (Kind.VIEW, Kind.CONSTANT):
        call_in_place_of(cloned, op, name, values, reason, is_fallback)


def call_in_place_of(
    cloned: ir.Operation, op: ir.Operation, name: str, values: dict[ir.Value, ir.Value], reason: str, is_fallback: bool
) -> None:
    """Builds a library call of `name` with `reason` for `cloned`, which stands for `op` in `values` until then."""
    made = extern(name, reason, list(cloned.operands), [value.type for value in cloned.results], is_fallback)
    copy_attributes(op, made, *_KEPT)
    values.update(zip(op.results, made.results, strict=True))
    cloned.erase()
