"""`dovetail.gradient`: what the backward hands autograd."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.dovetail.verify import VerifiedOp


class GradientOp(VerifiedOp, name="gradient"):
    """`value` is the gradient of the loss with respect to the argument `of`. An argument without one has none.

    `"dovetail.gradient"(%0, %x) : (!torch.vtensor<[4],f32>, !dovetail.ref<...>) -> ()`
    """

    value: Operand[Any]
    of: Operand[RefType]

    def problem(self) -> str:
        if not isinstance(self.of.owner, ir.Block):
            return f"expects an argument of the function, got the result of '{self.of.owner.name}'"
        return verify.another_tensor(self.value, self.of)
