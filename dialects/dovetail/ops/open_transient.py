"""`dovetail.open_transient`: a `dovetail.transient` of which sizes decide."""

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail.build import create
from dovetail.dialects.dovetail.numbers import Number, number
from dovetail.dialects.dovetail.types import BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp


class OpenTransientOp(VerifiedOp, name="open_transient"):
    """Uninitialised memory of `bytes` bytes, for as long as one call of the plan takes.

    `%t = "dovetail.open_transient"(%n) : (index) -> !dovetail.buffer`
    """

    bytes: Operand[ir.IndexType]
    memory: Result[BufferType]

    @property
    def size(self) -> Number:
        """Bytes."""
        return number(self.bytes)


def open_transient(size: ir.Value) -> OpenTransientOp:
    """Builds memory of `size` bytes."""
    return create(OpenTransientOp, [size], {}, [BufferType.get()])
