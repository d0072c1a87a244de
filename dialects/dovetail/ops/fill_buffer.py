"""`dovetail.fill_buffer`: memory gets one value all over."""

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail.types import BufferType
from dovetail.dialects.dovetail.verify import VerifiedOp

WIDTHS = (8, 16, 32, 64)


class FillBufferOp(VerifiedOp, name="fill_buffer"):
    """Repeats the bytes of `pattern`, an integer of 8, 16, 32 or 64 bits, all over `target`.

    `"dovetail.fill_buffer"(%b) {pattern = 1069547520 : i32} : (!dovetail.buffer) -> ()`
    """

    target: Operand[BufferType]
    pattern: ir.IntegerAttr

    def problem(self) -> str:
        type_ = ir.IntegerAttr(self.pattern).type
        is_known = isinstance(type_, ir.IntegerType) and type_.width in WIDTHS
        return "" if is_known else f"expects a pattern of 8, 16, 32 or 64 bits, got {self.pattern}"

    @property
    def width(self) -> int:
        """Bytes of the pattern."""
        return ir.IntegerType(ir.IntegerAttr(self.pattern).type).width // 8

    @property
    def bits(self) -> int:
        """The pattern as a number from 0 up."""
        return ir.IntegerAttr(self.pattern).value & ((1 << 8 * self.width) - 1)


def fill_buffer(target: ir.Value, pattern: int, bits: int) -> FillBufferOp:
    """Builds a fill of `target` with `pattern`, a number of `bits` bits."""
    signed = pattern - (1 << bits) if pattern >> (bits - 1) else pattern
    return FillBufferOp.build([target], pattern=ir.IntegerAttr.get(ir.IntegerType.get_signless(bits), signed))
