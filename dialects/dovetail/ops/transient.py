"""`dovetail.transient`: memory that a plan needs while it runs."""

from torch_mlir import ir
from torch_mlir.dialects.ext import Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create, i64
from dovetail.dialects.dovetail.types import BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp


class TransientOp(VerifiedOp, name="transient"):
    """Uninitialised memory of `bytes` bytes, for as long as one call of the plan takes.

    `%t = "dovetail.transient"() {bytes = 16896 : i64} : () -> !dovetail.buffer`
    """

    bytes: ir.IntegerAttr
    memory: Result[BufferType]

    def problem(self) -> str:
        return verify.no_count(self, "bytes")

    @property
    def size(self) -> int:
        """Bytes."""
        return ir.IntegerAttr(self.bytes).value


def transient(size: int) -> TransientOp:
    """Builds memory of `size` bytes."""
    return create(TransientOp, [], {"bytes": i64(size)}, [BufferType.get()])
