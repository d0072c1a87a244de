"""`dovetail.touch`: the version counter moves, the memory stays."""

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.effects import Writes
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of


class TouchOp(VerifiedOp, name="touch", traits=[Writes]):
    """Moves `ref`'s version counter by `versions` without a write, as in-place changes of a view's sizes do.

    `"dovetail.touch"(%x) {versions = 1 : i64} : (!dovetail.ref<...>) -> ()`
    """

    ref: Operand[RefType]
    versions: ir.IntegerAttr
    version_count = value_of("versions")

    def problem(self) -> str:
        return verify.no_count(self, "versions", 1)


def touch(ref, versions: int) -> TouchOp:
    """Builds the move of `ref`'s version counter."""
    return TouchOp(ref, i64(versions))
