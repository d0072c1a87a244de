"""`dovetail.destination`: an argument's memory, for a region to update."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create
from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.torch_facts.types import memory_type

PROOFS = ("pointwise", "not read", "none")


class DestinationOp(Dovetail.Operation, name="destination"):
    """Memory that holds `ref`'s value, for one region to read and overwrite: that of `ref` itself where `proof` allows.

    `proof` says why: `pointwise` (each element is read only to compute the element that takes its place), `not read`
    (the region does not read it at all), `none` (there is none any more: it is a copy). Memory that no region can take,
    for want of alignment, is copied too; the `dovetail.write` of the new value then copies it back.
    `%d = "dovetail.destination"(%x) {proof = "pointwise"} : (!dovetail.ref<...>) -> !torch.tensor<[4],f32>`
    """

    ref: Operand[RefType]
    memory: Result[Any]
    proof: ir.StringAttr

    def verify_invariants(self) -> bool:
        if not verify.is_as_declared(self):
            return True
        if not (verify.knows_attributes(self, "proof") and verify.has_sound_refs(self)):
            return False
        expected = memory_type(self.ref.type.tensor_type)
        if self.memory.type != expected:
            return verify.fail(self, f"expects a result of type '{expected}', got '{self.memory.type}'")
        return verify.is_one_of(self, "proof", PROOFS)

    @property
    def proof_name(self) -> str:
        return ir.StringAttr(self.proof).value


def destination(ref: ir.Value, proof: str) -> DestinationOp:
    """Builds the memory of `ref` for a region to update; `proof` is one of `PROOFS`."""
    return create(DestinationOp, [ref], {"proof": ir.StringAttr.get(proof)}, [memory_type(ref.type.tensor_type)])
