"""`dovetail.constant`: bytes that a plan reads."""

import re

from torch_mlir import ir
from torch_mlir.dialects.ext import Result

from dovetail.dialects.dovetail.types import BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp


class ConstantOp(VerifiedOp, name="constant"):
    """Memory that holds the same bytes in every call of the plan: `data`, two hexadecimal digits each.

    `%c = "dovetail.constant"() {data = "0000803f"} : () -> !dovetail.buffer`
    """

    data: ir.StringAttr
    memory: Result[BufferType]

    def problem(self) -> str:
        text = ir.StringAttr(self.data).value
        is_read = re.fullmatch("([0-9a-f]{2})*", text) is not None
        return "" if is_read else f"expects 'data' to be bytes in hexadecimal, got '{text}'"

    @property
    def contents(self) -> bytes:
        return bytes.fromhex(ir.StringAttr(self.data).value)

    @property
    def size(self) -> int:
        """Bytes."""
        return len(ir.StringAttr(self.data).value) // 2


def constant(contents: bytes) -> ConstantOp:
    """Builds memory that holds `contents`."""
    return ConstantOp.build([], [BufferType.get()], data=ir.StringAttr.get(contents.hex()))
