"""Has what a region does done where it is called, by what the caller builds of each op.

A replay has no memory, and follows values through calls instead: `runtime/replaying/inlining.py`.
"""

from collections.abc import Callable
from typing import TypeAlias

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reading import body, by_argument

Build: TypeAlias = Callable[[ir.Operation, dict[ir.Value, ir.Value]], None]
"""Builds, at the insertion point, what does as one op of a region does, operands and results going through a map."""


def inline_call(call: ir.Operation, region: func.FuncOp, build: Build) -> None:
    """Replaces a `call` of `region` by what `build` makes of each of its ops, in order; the region stays."""
    *ops, terminator = body(region)
    values = by_argument(call, region)
    with ir.InsertionPoint(call):
        for op in ops:
            with op.location:
                build(op, values)
    for result, value in zip(call.results, terminator.operands, strict=True):
        result.replace_all_uses_with(values[value])
    call.erase()
