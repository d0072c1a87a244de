"""`dovetail.touch`: the version counter moves, the memory stays."""

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.effects import Writes
from dovetail.dialects.dovetail.types import RefType


class TouchOp(Dovetail.Operation, name="touch", traits=[Writes]):
    """Moves `ref`'s version counter by `versions` without a write, as in-place changes of a view's sizes do.

    `"dovetail.touch"(%x) {versions = 1 : i64} : (!dovetail.ref<...>) -> ()`
    """

    ref: Operand[RefType]
    versions: ir.IntegerAttr

    def verify_invariants(self) -> bool:
        if not verify.is_as_declared(self):
            return True
        return (
            verify.knows_attributes(self, "versions") and verify.has_sound_refs(self) and verify.is_version_count(self)
        )

    @property
    def version_count(self) -> int:
        """By how much the version counter moves."""
        return ir.IntegerAttr(self.versions).value


def touch(ref, versions: int) -> TouchOp:
    """Builds the move of `ref`'s version counter."""
    return TouchOp(ref, ir.IntegerAttr.get(ir.IntegerType.get_signless(64), versions))
