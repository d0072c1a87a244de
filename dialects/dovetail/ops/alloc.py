"""`dovetail.alloc`: memory for a region's result."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.torch_facts.types import is_memory_type, is_tensor


class AllocOp(Dovetail.Operation, name="alloc"):
    """Uninitialised, row-major memory from PyTorch's allocator, for a region to write its result to.

    `%d = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>`
    """

    memory: Result[Any]

    def verify_invariants(self) -> bool:
        if not verify.is_as_declared(self):
            return True
        type_ = self.memory.type
        if not (is_memory_type(type_) and is_tensor(type_)):
            return verify.fail(self, f"expects a result of type '!torch.tensor' with static sizes, got '{type_}'")
        return verify.knows_attributes(self)


def alloc(type_: ir.Type) -> AllocOp:
    """Builds an allocation of the `!torch.tensor` type `type_`."""
    return AllocOp(type_)
