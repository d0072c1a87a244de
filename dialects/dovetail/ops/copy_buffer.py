"""`dovetail.copy_buffer`: memory gets the bytes of other memory."""

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create
from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.types import BufferType


class CopyBufferOp(Dovetail.Operation, name="copy_buffer"):
    """Copies the bytes of `source` to `target`, which has as many and none in common with it.

    `"dovetail.copy_buffer"(%a, %b) : (!dovetail.buffer, !dovetail.buffer) -> ()`
    """

    source: Operand[BufferType]
    target: Operand[BufferType]

    def verify_invariants(self) -> bool:
        return not verify.is_as_declared(self) or verify.knows_attributes(self)


def copy_buffer(source: ir.Value, target: ir.Value) -> CopyBufferOp:
    """Builds a copy from `source` to `target`."""
    return create(CopyBufferOp, [source, target], {}, [])
