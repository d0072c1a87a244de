"""`dovetail.subspan`: the bytes of an argument, a transient or a constant that a launch may touch."""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import i64, open_numbers
from dovetail.dialects.dovetail.numbers import Number, filled
from dovetail.dialects.dovetail.ops.constant import ConstantOp
from dovetail.dialects.dovetail.ops.transient import TransientOp
from dovetail.dialects.dovetail.types import OPEN, BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import shaped_info, tensor_info


class SubspanOp(VerifiedOp, name="subspan"):
    """`length` bytes of `memory`, an argument of the plan, a transient or a constant, from byte `offset` on.

    Each that is left open is one of `numbers`, in the order of offset and length. They lie inside of `memory`; that is
    what keeps a launch from touching any other. What is open each call checks, before anything runs.
    `%b = "dovetail.subspan"(%x) {length = 16 : i64, offset = 0 : i64} : (!torch.vtensor<[4],f32>) -> !dovetail.buffer`
    """

    memory: Operand[Any]
    numbers: Sequence[Operand[ir.IndexType]]
    offset: ir.IntegerAttr
    length: ir.IntegerAttr
    buffer: Result[BufferType]

    def problem(self) -> str:
        if not _is_memory(self.memory):
            return f"expects a tensor of known rank, a transient or a constant, got '{self.memory.type}'"
        return (
            verify.no_count(self, "offset", may_be_open=True)
            or verify.no_count(self, "length", may_be_open=True)
            or verify.too_few(self.numbers, self._stated.count(OPEN), "offsets and lengths")
            or self._outside()
        )

    @property
    def start(self) -> Number:
        """Bytes from the first byte of `memory`."""
        return filled(self._stated, self.numbers)[0]

    @property
    def size(self) -> Number:
        """Bytes."""
        return filled(self._stated, self.numbers)[1]

    @property
    def _stated(self) -> list[int]:
        return [ir.IntegerAttr(number).value for number in (self.offset, self.length)]

    def _outside(self) -> str:
        start, size, room = self.start, self.size, bytes_of(self.memory)
        if not (isinstance(start, int) and isinstance(size, int) and room is not None) or start + size <= room:
            return ""
        return f"expects bytes inside of its operand's {room}, got {start} to {start + size}"


def bytes_of(memory: ir.Value) -> int | None:
    """The bytes of an argument, a transient or a constant; None where they are open."""
    if isinstance(memory.type, BufferType):
        size = memory.owner.operation.opview.size
        return size if isinstance(size, int) else None
    info = tensor_info(memory.type)
    return None if info is None else info.nbytes


def _is_memory(value: ir.Value) -> bool:
    if not isinstance(value.type, BufferType):
        return shaped_info(value.type) is not None
    made = None if isinstance(value.owner, ir.Block) else value.owner.operation.opview
    return isinstance(made, TransientOp | ConstantOp)


def subspan(memory: ir.Value, offset: Number, length: Number) -> SubspanOp:
    """Builds the range of `length` bytes of `memory` from `offset` on."""
    (start, size), numbers = open_numbers([offset, length])
    return SubspanOp.build([memory, *numbers], [BufferType.get()], offset=i64(start), length=i64(size))
