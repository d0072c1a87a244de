"""Gathers of one number of each row, for GPUs, whose kernels fail where a position is none, as ATen's do."""

import struct

from torch_mlir import ir
from torch_mlir.dialects import arith, linalg, tensor

from dovetail.backends.elementary.fence import fence, fenced
from dovetail.backends.elementary.loop import element_type, from_builtin, iterators, to_builtin
from dovetail.backends.worker.agreed import CHECK_BITS
from dovetail.dialects.building.cloning import ancestors, clone
from dovetail.dialects.reading import body, producer, users
from dovetail.dialects.torch_facts.in_regions import CHECKED_GATHER
from dovetail.dialects.torch_facts.ops import Kind, is_constant, kind
from dovetail.dialects.torch_facts.types import require_tensor_info


def bound(count: int) -> float:
    """The divisor of the remainder that stands, in float64, for a position which is checked to be one of `count`.

    Of numbers nothing is known to IREE's passes, which keep it; the last edit of kernels makes the check of it
    (`backends/worker/checks.py`).
    """
    return struct.unpack("<d", struct.pack("<Q", CHECK_BITS + count))[0]


def check_gathers(function: ir.Operation) -> None:
    """Puts loops in the place of such gathers of `function`, apart from what takes their numbers and positions.

    A loop that adds up what it gathers IREE gives a single thread.
    """
    for op in [op for op in body(function) if op.name == CHECKED_GATHER]:
        with op.location, ir.InsertionPoint(op):
            gathered = from_builtin(_gathered(op, _positions(function, op.operands[2])), op.results[0].type)
        op.results[0].replace_all_uses_with(gathered)
        op.erase()
        _fence_beside(gathered)
        fence(gathered)


def _fence_beside(gathered: ir.Value) -> None:
    """Has what goes on with `gathered`, one by one, take what is reduced from memory, too.

    Else it would be part of the rows' kernel, which then has two ends; IREE tiles one from its last op.
    """
    own, pending = {gathered}, [gathered]
    apart: dict[ir.Value, ir.Value] = {}
    while pending:
        for op in [op for op in users(pending.pop()) if kind(op) in (Kind.POINTWISE, Kind.VIEW)]:
            for at, value in enumerate(op.operands):
                if value not in own and _is_reduced(value):
                    apart[value] = apart.get(value) or _apart(value)
                    op.operands[at] = apart[value]
            made = [result for result in op.results if result not in own]
            own.update(made)
            pending += made


def _is_reduced(value: ir.Value) -> bool:
    made = producer(value)
    return made is not None and any(kind(op) is Kind.REDUCTION for op in ancestors([made]))


def _apart(value: ir.Value) -> ir.Value:
    with value.owner.location, ir.InsertionPoint.after(value.owner):
        return fenced(value)


def _positions(function: ir.Operation, index: ir.Value) -> ir.Value:
    """`index`, computed again of arguments behind a fence: else what else takes any of that would be cut."""
    made = producer(index)
    if made is None:
        return index
    again = ancestors([made])
    ordered = [op for op in body(function) if op in again and not is_constant(op)]
    taken = {value for op in ordered for value in op.operands if producer(value) is None}
    values = {value: fenced(value) for value in taken}
    for op in ordered:
        clone(op, values)
    return values[index]


def _gathered(op: ir.Operation, index: ir.Value) -> ir.Value:
    info = require_tensor_info(op.operands[0].type)
    rows, length = info.shape
    f64, i64 = ir.F64Type.get(), ir.IntegerType.get_signless(64)
    elements, out = to_builtin(op.operands[0]), tensor.empty([rows, 1], element_type(info))
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(2))
    made = linalg.GenericOp(
        [out.type],
        [to_builtin(index)],
        [out],
        ir.ArrayAttr.get([identity, identity]),
        iterators(["parallel", "parallel"]),
    )
    block = made.regions[0].blocks.append(i64, element_type(info))
    with ir.InsertionPoint(block):
        number = arith.SIToFPOp(f64, block.arguments[0]).result
        divisor = arith.ConstantOp(f64, ir.FloatAttr.get(f64, bound(length))).result
        checked = arith.FPToSIOp(i64, arith.RemFOp(number, divisor).result).result
        last = arith.ConstantOp(i64, ir.IntegerAttr.get(i64, length - 1)).result
        at = arith.IndexCastOp(ir.IndexType.get(), arith.MinUIOp(checked, last).result).result
        row = linalg.IndexOp(0).result
        linalg.YieldOp([tensor.ExtractOp(elements, [row, at]).result])
    return made.results[0]
