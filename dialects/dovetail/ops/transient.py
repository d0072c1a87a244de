"""`dovetail.transient`: memory that a plan needs while it runs."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import i64, open_numbers
from dovetail.dialects.dovetail.numbers import Number, filled
from dovetail.dialects.dovetail.types import OPEN, BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp


class TransientOp(VerifiedOp, name="transient"):
    """Uninitialised memory of `bytes` bytes, for as long as one call of the plan takes; an open number is the operand.

    `%t = "dovetail.transient"() {bytes = 16896 : i64} : () -> !dovetail.buffer`
    """

    numbers: Sequence[Operand[ir.IndexType]]
    bytes: ir.IntegerAttr
    memory: Result[BufferType]

    def problem(self) -> str:
        unknown = int(ir.IntegerAttr(self.bytes).value == OPEN)
        return verify.no_count(self, "bytes", may_be_open=True) or verify.too_few(self.numbers, unknown, "bytes")

    @property
    def size(self) -> Number:
        """Bytes."""
        return filled([ir.IntegerAttr(self.bytes).value], self.numbers)[0]


def transient(size: Number) -> TransientOp:
    """Builds memory of `size` bytes."""
    (stated,), numbers = open_numbers([size])
    return TransientOp.build(numbers, [BufferType.get()], bytes=i64(stated))
