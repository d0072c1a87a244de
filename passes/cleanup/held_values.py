"""What memory holds before each op of a function, as far as its reads and writes tell."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.dovetail import ReadOp, RefType, SetMetadataOp, WriteOp
from dovetail.dialects.memory.aliases import memory_groups
from dovetail.dialects.memory.roots import memory_root


class HeldValues:
    """By ref, the value that its memory holds now; `pass_by` each op in order.

    A write tells what its ref holds, and forgets it of every other ref to that memory: views of it, and the arguments
    that the guard puts into one group with it. A change of sizes forgets too.
    """

    def __init__(self, function_op: func.FuncOp):
        groups = enumerate(memory_groups(function_op))
        self._groups = {ref: number for number, group in groups for ref in group}
        self._held: dict[ir.Value, ir.Value] = {}
        self._refs: dict[ir.Value | int, list[ir.Value]] = {}  # those that hold something, by what they may share

    def of(self, ref: ir.Value) -> ir.Value | None:
        """The value in the memory of `ref`, None if that is not known."""
        return self._held.get(ref)

    def memory_key(self, ref: ir.Value) -> ir.Value | int:
        """What is equal for refs that may share memory."""
        root = memory_root(ref)
        return self._groups.get(root, root)

    def pass_by(self, op: ir.Operation) -> None:
        """Takes note of what `op` does to memory."""
        if op.name == ReadOp.OPERATION_NAME:
            self._hold(op.operands[0], op.results[0])
        elif op.name == WriteOp.OPERATION_NAME:
            value, ref = op.operands
            self._forget(ref)
            if not isinstance(value.type, RefType):
                self._hold(ref, value)
        elif op.name == SetMetadataOp.OPERATION_NAME:
            self._forget(op.operands[0])

    def _hold(self, ref: ir.Value, value: ir.Value) -> None:
        self._held[ref] = value
        self._refs.setdefault(self.memory_key(ref), []).append(ref)

    def _forget(self, ref: ir.Value) -> None:
        for each in self._refs.pop(self.memory_key(ref), []):
            self._held.pop(each, None)
