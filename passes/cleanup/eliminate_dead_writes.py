"""Pass `eliminate-dead-writes`: a write that changes nothing, or that nobody sees."""

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import DetachOp, ReadOp, SetMetadataOp, ViewOp, WriteOp
from dovetail.dialects.dovetail.ops.touch import touch
from dovetail.dialects.reading import Module, body
from dovetail.passes.base import Pass
from dovetail.passes.cleanup.held_values import HeldValues

# What sees memory, or makes another way to it. `tangent` and `gradient` name a ref and look at no memory.
_OBSERVERS = frozenset(each.OPERATION_NAME for each in (ReadOp, ViewOp, DetachOp, SetMetadataOp, func.CallOp))


class EliminateDeadWritesPass(Pass, name="eliminate-dead-writes", runs_at="joint"):
    """Turns a `write` of what the memory holds already, or that a later one overwrites unseen, into a `touch`.

    Eager's in-place ops moved the version counter, so it still moves; that of a `hidden` write does not. A `tracked`
    write stays: it changes what autograd knows of the tensor. So does one with a read, a view or a write of memory that
    may be the same between it and the later one.

    Before:  `%0 = read %x; write %1, %x; write %2, %x; %3 = read %y; write %3, %y`
    After:   `%0 = read %x; touch %x; write %2, %x; %3 = read %y; touch %y`
    """

    def run(self, module: ir.Module) -> bool:
        dead = [op for function_op in Module(module).functions.values() for op in _dead_writes(function_op)]
        for op in dead:
            _drop(op)
        return bool(dead)


def _dead_writes(function_op: func.FuncOp) -> Iterator[ir.Operation]:
    held = HeldValues(function_op)
    unseen: dict[ir.Value | int, ir.Operation] = {}  # the last write to each memory
    for op in body(function_op):
        if op.name in _OBSERVERS:
            for ref in op.operands:
                unseen.pop(held.memory_key(ref), None)
        if op.name != WriteOp.OPERATION_NAME:
            held.pass_by(op)
            continue
        value, ref = op.operands
        is_tracked, known = op.opview.mode_name == "tracked", held.of(ref)
        if known is not None and known == value and not is_tracked:
            yield op
            continue
        earlier = unseen.pop(held.memory_key(ref), None)
        if earlier is not None and earlier.operands[1] == ref and not is_tracked:
            yield earlier
        if not is_tracked:
            unseen[held.memory_key(ref)] = op
        held.pass_by(op)


def _drop(op: ir.Operation) -> None:
    write = op.opview
    assert isinstance(write, WriteOp)
    if write.version_count:
        with ir.InsertionPoint(op), op.location:
            touch(write.ref, write.version_count)
    op.erase()
