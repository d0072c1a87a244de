"""`dovetail.detach`: the same memory, outside of autograd."""

from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.types import RefType


class DetachOp(Dovetail.Operation, name="detach"):
    """A ref to the same memory that autograd does not follow.

    `%d = "dovetail.detach"(%x) : (!dovetail.ref<...>) -> !dovetail.ref<...>`
    """

    ref: Operand[RefType]
    detached: Result[RefType]

    def verify_invariants(self) -> bool:
        if not verify.is_as_declared(self):
            return True
        if self.ref.type != self.detached.type:
            return verify.fail(self, f"expects result type '{self.ref.type}', got '{self.detached.type}'")
        return verify.knows_attributes(self) and verify.has_sound_refs(self)


def detach(ref) -> DetachOp:
    """Builds a detached alias of `ref`."""
    return DetachOp(ref, ref.type)
