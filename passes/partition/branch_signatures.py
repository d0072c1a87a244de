"""Widening the functions of branches: more results, more arguments."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import is_extern
from dovetail.dialects.reading import body, is_used, terminator
from dovetail.passes.rewriting.cloning import set_signature
from dovetail.passes.rewriting.constants import constant, full


def return_too(branch: func.FuncOp, values: Sequence[ir.Value | None], types: Sequence[ir.Type]) -> None:
    """Makes `branch` return `values` besides; zeros of `types` in place of each None."""
    end = terminator(branch)
    with end.location, ir.InsertionPoint(end):
        more = [
            full(type_, constant(0)) if value is None else value for value, type_ in zip(values, types, strict=True)
        ]
        results = [*end.operands, *more]
        func.ReturnOp(results)
    end.erase()
    set_signature(branch, [value.type for value in results])


def take_too(branch: func.FuncOp, values: Sequence[ir.Value | None], types: Sequence[ir.Type]) -> None:
    """Gives `branch` arguments of `types` besides, in place of its `values`, and drops what nothing uses any more."""
    block = branch.body.blocks[0]
    for value, type_ in zip(values, types, strict=True):
        argument = block.add_argument(type_, branch.location)
        if value is not None:
            value.replace_all_uses_with(argument)
    *ops, end = body(branch)
    set_signature(branch, [value.type for value in end.operands])
    for op in reversed(ops):
        if not is_extern(op) and not is_used(*op.results):
            op.erase()
