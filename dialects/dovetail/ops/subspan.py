"""`dovetail.subspan`: the bytes of an argument, a transient or a constant that a launch may touch."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create, i64
from dovetail.dialects.dovetail.ops.constant import ConstantOp
from dovetail.dialects.dovetail.ops.transient import TransientOp
from dovetail.dialects.dovetail.types import BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import tensor_info


class SubspanOp(VerifiedOp, name="subspan"):
    """`length` bytes of `memory`, an argument of the plan, a transient or a constant, from byte `offset` on.

    They lie inside of it; that is what keeps a launch from touching any other memory.
    `%b = "dovetail.subspan"(%x) {length = 16 : i64, offset = 0 : i64} : (!torch.vtensor<[4],f32>) -> !dovetail.buffer`
    """

    memory: Operand[Any]
    offset: ir.IntegerAttr
    length: ir.IntegerAttr
    buffer: Result[BufferType]

    def problem(self) -> str:
        size = bytes_of(self.memory)
        if size is None:
            return f"expects a static tensor, a transient or a constant, got '{self.memory.type}'"
        start, end = self.start, self.start + self.size
        return (
            verify.no_count(self, "offset")
            or verify.no_count(self, "length")
            or ("" if end <= size else f"expects bytes inside of its operand's {size}, got {start} to {end}")
        )

    @property
    def start(self) -> int:
        """Bytes from the first byte of `memory`."""
        return ir.IntegerAttr(self.offset).value

    @property
    def size(self) -> int:
        """Bytes."""
        return ir.IntegerAttr(self.length).value


def bytes_of(memory: ir.Value) -> int | None:
    """The bytes of an argument, a transient or a constant; None for anything else, a subspan among them."""
    if not isinstance(memory.type, BufferType):
        info = tensor_info(memory.type)
        return None if info is None else info.nbytes
    if isinstance(memory.owner, ir.Block):
        return None
    made = memory.owner.operation.opview
    return made.size if isinstance(made, TransientOp | ConstantOp) else None


def subspan(memory: ir.Value, offset: int, length: int) -> SubspanOp:
    """Builds the range of `length` bytes of `memory` from `offset` on."""
    return create(SubspanOp, [memory], {"offset": i64(offset), "length": i64(length)}, [BufferType.get()])
