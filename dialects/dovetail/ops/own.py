"""`dovetail.own`: a value becomes fresh memory of the user's."""

import math
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.attributes import BASE
from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create
from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.types import RefType


class OwnOp(Dovetail.Operation, name="own"):
    """Hands `value` to the user in memory of its own, laid out as the result type says.

    It is what autograd sees as a result of the compiled program; `requires_grad` says whether it is differentiable.
    `%o = "dovetail.own"(%0) {requires_grad = true} : (!torch.vtensor<[4],f32>) -> !dovetail.ref<...>`
    """

    value: Operand[Any]
    requires_grad: Any  # a bool; the bindings have no constraint for it
    ref: Result[RefType]

    def verify_invariants(self) -> bool:
        if not verify.is_as_declared(self):
            return True
        if not isinstance(self.attributes["requires_grad"], ir.BoolAttr):
            return verify.fail(
                self, f"expects 'requires_grad' to be true or false, got {self.attributes['requires_grad']}"
            )
        return (
            verify.knows_attributes(self, "requires_grad")
            and verify.has_sound_refs(self)
            and verify.same_tensor(self, self.value, self.ref)
            and self._has_sound_base()
        )

    def _has_sound_base(self) -> bool:
        if BASE not in self.attributes:
            return True
        stated = self.attributes[BASE]
        is_array = isinstance(stated, ir.DenseI64ArrayAttr)
        if self.is_differentiable and is_array and math.prod(stated) == RefType(self.ref.type).info.numel:
            return True
        return verify.fail(
            self, f"expects '{BASE}' to be sizes of as many elements, of what requires grad, got {stated}"
        )

    @property
    def is_differentiable(self) -> bool:
        return ir.BoolAttr(self.requires_grad).value


def own(value, ref_type: RefType, requires_grad: bool) -> OwnOp:
    """Builds the hand-over of `value` in memory of type `ref_type`."""
    return create(OwnOp, [value], {"requires_grad": ir.BoolAttr.get(requires_grad)}, [ref_type])
