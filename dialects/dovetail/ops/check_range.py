"""`dovetail.check_range`: what a plan was made for, of a size."""

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.verify import VerifiedOp


class CheckRangeOp(VerifiedOp, name="check_range"):
    """Refuses the call, before anything runs, unless `number` is from `least` to `most`.

    `"dovetail.check_range"(%n) {least = 1 : i64, most = 4096 : i64} : (index) -> ()`
    """

    number: Operand[ir.IndexType]
    least: ir.IntegerAttr
    most: ir.IntegerAttr

    def problem(self) -> str:
        least, most = self.bounds
        return "" if least <= most else f"expects a range, got {least} to {most}"

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the largest that the number may be."""
        return ir.IntegerAttr(self.least).value, ir.IntegerAttr(self.most).value


def check_range(number: ir.Value, least: int, most: int) -> CheckRangeOp:
    """Builds the check that `number` is from `least` to `most`."""
    return CheckRangeOp.build([number], least=i64(least), most=i64(most))
