"""A host function with its regions inlined: what runs op by op where the compiled regions can't."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import EFFECT
from dovetail.dialects.dataflow import follow
from dovetail.dialects.dovetail import DestinationOp, OwnOp
from dovetail.dialects.dovetail.ops.read import read
from dovetail.dialects.reading import Module, copy_attributes
from dovetail.dialects.statements.calls import extern, reason, written
from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.dialects.torch_facts.types import value_type


def inlined(function_op: func.FuncOp, arguments: Sequence[ir.Value], module: Module) -> list[ir.Value | None]:
    """Clones a function's ops to the insertion point; returns what it returns, None for owned memory.

    Memory that a region writes is followed as the value that it then holds.
    """
    return follow(function_op, arguments, module, _cloned)


def _cloned(op: ir.Operation, operands: Sequence[ir.Value]) -> Sequence[ir.Value | None]:
    match op.opview:
        case OwnOp():
            return [None]
        case DestinationOp():
            return [read(operands[0]).value]
    if (into := written(op)) is not None:
        with op.location:
            made = extern(aten_name(op) or "", reason(op), operands, [value_type(into.type)])
        copy_attributes(op, made, EFFECT)
        return list(made.results)
    with op.location:
        new = op.clone()
    for index, operand in enumerate(operands):
        new.operands[index] = operand
    return list(new.results)
