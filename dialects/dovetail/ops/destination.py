"""`dovetail.destination`: an argument's memory, for a region to update."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of
from dovetail.dialects.torch_facts.types import memory_type

PROOFS = ("pointwise", "not read", "none")


class DestinationOp(VerifiedOp, name="destination"):
    """Memory that holds `ref`'s value, for one region to read and overwrite: that of `ref` itself where `proof` allows.

    `proof` says why: `pointwise` (each element is read only to compute the element that takes its place), `not read`
    (the region does not read it at all), `none` (there is none any more: it is a copy). Memory that no region can take,
    for want of alignment, is copied too; the `dovetail.write` of the new value then copies it back.
    `%d = "dovetail.destination"(%x) {proof = "pointwise"} : (!dovetail.ref<...>) -> !torch.tensor<[4],f32>`
    """

    ref: Operand[RefType]
    memory: Result[Any]
    proof: ir.StringAttr

    def problem(self) -> str:
        expected = memory_type(self.ref.type.tensor_type)
        return verify.another_type(self.memory, expected, "a result of type") or verify.none_of(self, "proof", PROOFS)

    proof_name = value_of("proof")


def destination(ref: ir.Value, proof: str) -> DestinationOp:
    """Builds the memory of `ref` for a region to update; `proof` is one of `PROOFS`."""
    return DestinationOp.build([ref], [memory_type(ref.type.tensor_type)], proof=ir.StringAttr.get(proof))
