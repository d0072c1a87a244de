"""`dovetail.tangent`: what autograd hands the backward."""

from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.ops.own import OwnOp
from dovetail.dialects.dovetail.types import RefType


class TangentOp(Dovetail.Operation, name="tangent"):
    """The gradient of the loss with respect to `of`, an owned result, in the memory layout that was assumed.

    Everything that depends on a tangent belongs to the backward.
    `%t = "dovetail.tangent"(%o) : (!dovetail.ref<...>) -> !dovetail.ref<...>`
    """

    of: Operand[RefType]
    ref: Result[RefType]

    def verify_invariants(self) -> bool:
        if not verify.is_as_declared(self):
            return True
        owner = self.of.owner.opview if hasattr(self.of.owner, "opview") else self.of.owner
        if not isinstance(owner, OwnOp):
            return verify.fail(self, f"expects the result of a 'dovetail.own', got a value of type '{self.of.type}'")
        if not owner.is_differentiable:
            return verify.fail(self, "expects an owned result with 'requires_grad = true'")
        return (
            verify.knows_attributes(self)
            and verify.has_sound_refs(self)
            and verify.same_tensor(self, self.of, self.ref)
        )


def tangent(of, ref_type: RefType) -> TangentOp:
    """Builds the tangent of the owned result `of`, delivered in memory of type `ref_type`."""
    return TangentOp(of, ref_type)
