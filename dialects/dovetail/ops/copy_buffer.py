"""`dovetail.copy_buffer`: memory gets the bytes of other memory."""

from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail.types import BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp


class CopyBufferOp(VerifiedOp, name="copy_buffer"):
    """Copies the bytes of `source` to `target`, which has as many and none in common with it.

    `"dovetail.copy_buffer"(%a, %b) : (!dovetail.buffer, !dovetail.buffer) -> ()`
    """

    source: Operand[BufferType]
    target: Operand[BufferType]
