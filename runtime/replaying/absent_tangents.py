"""Gradients without what only absent tangents reach, in place of zeros for them.

Zeros give the same numbers, but for what is infinite or NaN: 0 times that is NaN. Eager never runs those ops.
"""

from collections.abc import Collection, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reading import body, is_used
from dovetail.dialects.torch_facts.types import torch_type


def leave_out(function_op: func.FuncOp, tangents: Sequence[ir.Value], absent: Collection[int]) -> None:
    """Removes what depends on `tangents` that are `absent`, by number, and on no other.

    Where sums, choices or lists join what is absent with what is not, zeros of its form stand in: nothing is multiplied
    there. A gradient that only absent tangents give becomes zeros, too: eager may have had them from another one.
    """
    depending, gone = set(tangents), {tangents[number] for number in absent}
    idle: list[ir.Operation] = []
    zeros: dict[ir.Value, ir.Value] = {}
    for op in body(function_op):
        depends = [each for each in op.operands if each in depending]
        depending.update(op.results if depends else ())
        is_end = isinstance(op.opview, func.ReturnOp)
        if depends and not is_end and gone.issuperset(depends):
            gone.update(op.results)
            idle.append(op)
            continue
        for index, operand in enumerate(op.operands):
            if operand not in gone:
                continue
            if operand not in zeros:
                with ir.InsertionPoint(op):
                    zeros[operand] = _zeros_like(operand)
            op.operands[index] = zeros[operand]
    for op in reversed(idle):
        if not is_used(*op.results):
            op.erase()


def _zeros_like(value: ir.Value) -> ir.Value:
    none = ir.Operation.create("torch.constant.none", results=[torch_type("none")]).result
    operands = [value, *[none] * 5]
    return ir.Operation.create("torch.aten.zeros_like", results=[value.type], operands=operands).result
