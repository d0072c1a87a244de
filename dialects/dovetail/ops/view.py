"""`dovetail.view`: another ref to the same memory."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create
from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.types import RefType


class ViewOp(Dovetail.Operation, name="view"):
    """The alias that PyTorch's view function `callee` makes of `ref`; `args` follow the tensor, in schema order.

    Replayed on the user's tensor itself, so that `._base`, `grad_fn` and later in-place use are eager's. `index` picks
    the result of a multi-output view (`split`, `unbind`), -1 elsewhere. Never merged: each makes an object of its own.
    `%v = "dovetail.view"(%x) {args = [0, 1], callee = "aten.transpose.int", index = -1 : i64} : (...) -> ...`
    """

    ref: Operand[RefType]
    callee: ir.StringAttr
    args: ir.ArrayAttr
    index: ir.IntegerAttr
    view: Result[RefType]

    def verify_invariants(self) -> bool:
        if not verify.is_as_declared(self):
            return True
        if not (verify.knows_attributes(self, "callee", "args", "index") and verify.has_sound_refs(self)):
            return False
        if self.ref.type.info.dtype != self.view.type.info.dtype and self.callee_name != "aten.view.dtype":
            return verify.fail(
                self, f"expects a view to keep the element type, got '{self.ref.type}' to '{self.view.type}'"
            )
        return True

    @property
    def callee_name(self) -> str:
        return ir.StringAttr(self.callee).value

    @property
    def output_index(self) -> int:
        return ir.IntegerAttr(self.index).value


def view(ref, callee: str, args: Sequence[ir.Attribute], view_type: RefType, index: int = -1) -> ViewOp:
    """Builds the alias that `callee` makes of `ref`."""
    index_attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), index)
    attributes = {"args": ir.ArrayAttr.get(list(args)), "callee": ir.StringAttr.get(callee), "index": index_attribute}
    return create(ViewOp, [ref], attributes, [view_type])
