"""`dovetail.view`: another ref to the same memory."""

from collections.abc import Iterator, Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.types import OPEN, RefType
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of

# View functions that show memory as elements of another type.
REINTERPRETATIONS = ("aten.view.dtype", "aten.view_as_complex.default", "aten.view_as_real.default")


class ViewOp(VerifiedOp, name="view"):
    """The alias that PyTorch's view function `callee` makes of `ref`; `args` follow the tensor, in schema order.

    Replayed on the user's tensor itself, so that `._base`, `grad_fn` and later in-place use are eager's. `index` picks
    the result of a multi-output view (`split`, `unbind`), -1 elsewhere. `grad_mode` is autograd's mode in which it is
    replayed, where the user chose another than that of the call. The offset of an `as_strided` counts from the first
    element of `ref`. Each number that `args` leave open is one of `numbers`, in order. Never merged: each makes an
    object of its own.
    `%v = "dovetail.view"(%x) {args = [0, 1], callee = "aten.transpose.int", index = -1 : i64} : (...) -> ...`
    """

    ref: Operand[RefType]
    numbers: Sequence[Operand[Any]]
    callee: ir.StringAttr
    args: ir.ArrayAttr
    index: ir.IntegerAttr
    view: Result[RefType]
    optional = ("grad_mode",)
    callee_name = value_of("callee")
    sets_grad_mode = value_of("grad_mode")  # None for the call's own
    output_index = value_of("index")

    def problem(self) -> str:
        if self.ref.type.shaped.dtype != self.view.type.shaped.dtype and self.callee_name not in REINTERPRETATIONS:
            return f"expects a view to keep the element type, got '{self.ref.type}' to '{self.view.type}'"
        unknown = sum(isinstance(argument, ir.IntegerAttr) and argument.value == OPEN for argument in flat(self.args))
        missing = verify.missing_numbers(self.numbers, unknown, "arguments")
        return missing or verify.another_device(self.ref, self.view) or verify.no_bool(self, "grad_mode")


def flat(args: ir.Attribute) -> Iterator[ir.Attribute]:
    """The arguments, those in lists one by one."""
    for argument in ir.ArrayAttr(args):
        if isinstance(argument, ir.ArrayAttr):
            yield from flat(argument)
        else:
            yield argument


def view(
    ref,
    callee: str,
    args: Sequence[ir.Attribute],
    view_type: RefType,
    index: int = -1,
    grad_mode: bool | None = None,
    numbers: Sequence[ir.Value] = (),
) -> ViewOp:
    """Builds the alias that `callee` makes of `ref`; `numbers` are the arguments that `args` leave open."""
    attributes = {"args": ir.ArrayAttr.get(list(args)), "callee": ir.StringAttr.get(callee), "index": i64(index)}
    if grad_mode is not None:
        attributes["grad_mode"] = ir.BoolAttr.get(grad_mode)
    return ViewOp.build([ref, *numbers], [view_type], **attributes)
