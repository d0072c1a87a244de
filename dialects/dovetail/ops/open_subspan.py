"""`dovetail.open_subspan`: a `dovetail.subspan` of which sizes decide."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail.build import create
from dovetail.dialects.dovetail.numbers import Number, number, value
from dovetail.dialects.dovetail.ops.constant import ConstantOp
from dovetail.dialects.dovetail.ops.open_transient import OpenTransientOp
from dovetail.dialects.dovetail.ops.transient import TransientOp
from dovetail.dialects.dovetail.types import BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import shaped_info


class OpenSubspanOp(VerifiedOp, name="open_subspan"):
    """`length` bytes of `memory`, an argument of the plan, a transient or a constant, from byte `offset` on.

    Each call checks that they lie inside of it, before anything runs.
    `%b = "dovetail.open_subspan"(%x, %zero, %n) : (!torch.vtensor<[?],f32>, index, index) -> !dovetail.buffer`
    """

    memory: Operand[Any]
    offset: Operand[ir.IndexType]
    length: Operand[ir.IndexType]
    buffer: Result[BufferType]

    def problem(self) -> str:
        memory = self.memory
        if isinstance(memory.type, BufferType):
            made = None if isinstance(memory.owner, ir.Block) else memory.owner.operation.opview
            is_memory = isinstance(made, TransientOp | OpenTransientOp | ConstantOp)
        else:
            is_memory = shaped_info(memory.type) is not None
        return "" if is_memory else f"expects a tensor of known rank, a transient or a constant, got '{memory.type}'"

    @property
    def start(self) -> Number:
        """Bytes from the first byte of `memory`."""
        return number(self.offset)

    @property
    def size(self) -> Number:
        """Bytes."""
        return number(self.length)


def open_subspan(memory: ir.Value, offset: Number, length: Number) -> OpenSubspanOp:
    """Builds the range of `length` bytes of `memory` from `offset` on."""
    return create(OpenSubspanOp, [memory, value(offset), value(length)], {}, [BufferType.get()])
