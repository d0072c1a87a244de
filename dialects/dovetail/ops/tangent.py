"""`dovetail.tangent`: what autograd hands the backward."""

from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.ops.own import OwnOp
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.dovetail.verify import VerifiedOp


class TangentOp(VerifiedOp, name="tangent"):
    """The gradient of the loss with respect to `of`, an owned result, in the memory layout that was assumed.

    Everything that depends on a tangent belongs to the backward.
    `%t = "dovetail.tangent"(%o) : (!dovetail.ref<...>) -> !dovetail.ref<...>`
    """

    of: Operand[RefType]
    ref: Result[RefType]

    def problem(self) -> str:
        owner = self.of.owner.opview if hasattr(self.of.owner, "opview") else self.of.owner
        if not isinstance(owner, OwnOp):
            return f"expects the result of a 'dovetail.own', got a value of type '{self.of.type}'"
        if not owner.is_differentiable:
            return "expects an owned result with 'requires_grad = true'"
        return verify.another_tensor(self.of, self.ref) or verify.another_device(self.of, self.ref)
