"""`dovetail.set_metadata`: size, stride and offset of the user's tensor change, its memory stays."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create, i64, i64_array
from dovetail.dialects.dovetail.effects import Writes
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.dovetail.verify import VerifiedOp


class SetMetadataOp(VerifiedOp, name="set_metadata", traits=[Writes]):
    """Gives the tensor `ref` the sizes `size` and strides `stride`, as `transpose_` or `unsqueeze_` would.

    `offset` is in elements, relative to the storage offset that the tensor has when the op runs. `versions` says by how
    much the version counter moves where that is not 1: the user called several such ops.
    `"dovetail.set_metadata"(%x) {offset = 0 : i64, size = [4, 2], stride = [1, 4]} : (!dovetail.ref<...>) -> ()`
    """

    ref: Operand[RefType]
    size: ir.ArrayAttr
    stride: ir.ArrayAttr
    offset: ir.IntegerAttr
    optional = ("versions",)

    def problem(self) -> str:
        sizes, strides = len(ir.ArrayAttr(self.size)), len(ir.ArrayAttr(self.stride))
        if sizes != strides:
            return f"expects one stride a size, got {sizes} sizes and {strides} strides"
        return (
            verify.no_count(self, "versions", 1)
            or verify.no_integers(self, "size")
            or verify.no_integers(self, "stride")
        )

    @property
    def version_count(self) -> int:
        """By how much the version counter moves."""
        return ir.IntegerAttr(self.attributes["versions"]).value if "versions" in self.attributes else 1


def set_metadata(ref, size: Sequence[int], stride: Sequence[int], offset: int, versions: int = 1) -> SetMetadataOp:
    """Builds the change of `ref`'s sizes and strides; `offset` is relative to its present storage offset."""
    attributes = {"offset": i64(offset), "size": i64_array(size), "stride": i64_array(stride)}
    if versions > 1:
        attributes["versions"] = i64(versions)
    return create(SetMetadataOp, [ref], attributes, [])
