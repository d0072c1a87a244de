"""`dovetail.size`: a number that an argument of a plan brings to a call."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.effects import Reads
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of
from dovetail.dialects.torch_facts.types import is_torch_type, shaped_info


class SizeOp(VerifiedOp, name="size", traits=[Reads]):
    """The size of `argument`, a tensor, in dimension `dim`; of a number that is an argument, the number.

    `%n = "dovetail.size"(%x) {dim = 0 : i64} : (!torch.vtensor<[?,768],f32>) -> index`
    """

    argument: Operand[Any]
    number: Result[ir.IndexType]
    optional = ("dim",)
    dimension = value_of("dim", -1)

    def problem(self) -> str:
        if is_torch_type(self.argument.type, "int"):
            return "has no 'dim' of a number" if "dim" in self.attributes else ""
        info = shaped_info(self.argument.type)
        if info is None or "dim" not in self.attributes:
            return f"expects a tensor and its 'dim', or a number, got '{self.argument.type}'"
        is_inside = isinstance(self.attributes["dim"], ir.IntegerAttr) and 0 <= self.dimension < len(info.shape)
        return "" if is_inside else f"expects 'dim' to be one of {len(info.shape)}, got {self.attributes['dim']}"


def size(argument: ir.Value, dim: int = -1) -> SizeOp:
    """Builds the size of `argument` in `dim`, or the number that it is."""
    return SizeOp.build([argument], [ir.IndexType.get()], **({"dim": i64(dim)} if dim >= 0 else {}))
