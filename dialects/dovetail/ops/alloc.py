"""`dovetail.alloc`: memory for a region's result."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp


class AllocOp(VerifiedOp, name="alloc"):
    """Uninitialised, row-major memory from PyTorch's allocator, for a region to write its result to.

    `%d = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>`
    """

    memory: Result[Any]

    def problem(self) -> str:
        return verify.no_memory(self.memory.type)


def alloc(type_: ir.Type) -> AllocOp:
    """Builds an allocation of the `!torch.tensor` type `type_`."""
    return AllocOp(type_)
