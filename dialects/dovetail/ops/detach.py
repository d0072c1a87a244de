"""`dovetail.detach`: the same memory, outside of autograd."""

from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.dovetail.verify import VerifiedOp


class DetachOp(VerifiedOp, name="detach"):
    """A ref to the same memory that autograd does not follow.

    `%d = "dovetail.detach"(%x) : (!dovetail.ref<...>) -> !dovetail.ref<...>`
    """

    ref: Operand[RefType]
    detached: Result[RefType]

    def problem(self) -> str:
        return verify.another_type(self.detached, self.ref.type)
