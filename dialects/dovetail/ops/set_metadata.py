"""`dovetail.set_metadata`: size, stride and offset of the user's tensor change, its memory stays."""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import i64, i64_array, open_numbers
from dovetail.dialects.dovetail.effects import Writes
from dovetail.dialects.dovetail.types import OPEN, RefType
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of


class SetMetadataOp(VerifiedOp, name="set_metadata", traits=[Writes]):
    """Gives the tensor `ref` the sizes `size` and strides `stride`, as `transpose_` or `unsqueeze_` would.

    `offset` is in elements, relative to the storage offset that the tensor has when the op runs. `versions` says by how
    much the version counter moves where that is not 1: the user called several such ops. Each number that is open in
    `size`, `stride` and `offset` is one of `numbers`, in this order.
    `"dovetail.set_metadata"(%x) {offset = 0 : i64, size = [4, 2], stride = [1, 4]} : (!dovetail.ref<...>) -> ()`
    """

    ref: Operand[RefType]
    numbers: Sequence[Operand[Any]]
    size: ir.ArrayAttr
    stride: ir.ArrayAttr
    offset: ir.IntegerAttr
    optional = ("versions",)
    version_count = value_of("versions", 1)

    def problem(self) -> str:
        sizes, strides = len(ir.ArrayAttr(self.size)), len(ir.ArrayAttr(self.stride))
        if sizes != strides:
            return f"expects one stride a size, got {sizes} sizes and {strides} strides"
        return (
            verify.no_count(self, "versions", 1)
            or verify.no_integers(self, "size", may_be_open=True)
            or verify.no_integers(self, "stride", may_be_open=True)
            or verify.missing_numbers(self.numbers, self.stated.count(OPEN), "sizes, strides and offsets")
        )

    @property
    def stated(self) -> list[int]:
        """Sizes, strides and offset."""
        each = (*ir.ArrayAttr(self.size), *ir.ArrayAttr(self.stride), self.offset)
        return [ir.IntegerAttr(number).value for number in each]


def set_metadata(ref, size: Sequence, stride: Sequence, offset, versions: int = 1) -> SetMetadataOp:
    """Builds the change of `ref`'s sizes and strides; `offset` is relative to its present storage offset.

    Each is a number, or the value of the IR that is one.
    """
    stated, numbers = open_numbers([*size, *stride, offset])
    sizes, strides = stated[: len(size)], stated[len(size) : -1]
    attributes = {"offset": i64(stated[-1]), "size": i64_array(sizes), "stride": i64_array(strides)}
    if versions > 1:
        attributes["versions"] = i64(versions)
    return SetMetadataOp.build([ref, *numbers], **attributes)
