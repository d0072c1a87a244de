"""`dovetail.own`: a value becomes fresh memory of the user's."""

import math
from collections.abc import Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.attributes import BASE
from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of
from dovetail.dialects.torch_facts.sizes import static


class OwnOp(VerifiedOp, name="own"):
    """Hands `value` to the user in memory of its own, laid out as the result type says.

    It is what autograd sees as a result of the compiled program; `requires_grad` says whether it is differentiable.
    Each stride that the type leaves open is one of `numbers`, in order.
    `%o = "dovetail.own"(%0) {requires_grad = true} : (!torch.vtensor<[4],f32>) -> !dovetail.ref<...>`
    """

    value: Operand[Any]
    numbers: Sequence[Operand[Any]]
    requires_grad: Any  # a bool; the bindings have no constraint for it
    ref: Result[RefType]
    is_differentiable = value_of("requires_grad")

    def problem(self) -> str:
        return (
            verify.no_bool(self, "requires_grad")
            or verify.another_tensor(self.value, self.ref)
            or verify.missing_numbers(self.numbers, RefType(self.ref.type).strides.count(None), "strides")
            or (self._unsound_base() if BASE in self.attributes else "")
        )

    def _unsound_base(self) -> str:
        stated = self.attributes[BASE]
        if self.is_differentiable and isinstance(stated, ir.DenseI64ArrayAttr):
            shown, sizes = RefType(self.ref.type).shaped, list(stated)
            known = math.prod(size for size in sizes if size != -1)
            if known == math.prod(static(shown.shape)) if shown.is_static else known > 0 and sizes.count(-1) == 1:
                return ""
        return f"expects '{BASE}' to be sizes of as many elements, of what requires grad, got {stated}"


def own(value, ref_type: RefType, requires_grad: bool, numbers: Sequence[ir.Value] = ()) -> OwnOp:
    """Builds the hand-over of `value` in memory of type `ref_type`, whose open strides are `numbers`."""
    return OwnOp.build([value, *numbers], [ref_type], requires_grad=ir.BoolAttr.get(requires_grad))
