"""`dovetail.alloc`: memory for a region's result."""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of
from dovetail.dialects.torch_facts.types import require_shaped_info


class AllocOp(VerifiedOp, name="alloc"):
    """Uninitialised, row-major memory from PyTorch's allocator, for a region to write its result to.

    Each size that the type leaves open is one of `numbers`, in order.
    It lies on the module's target, unless `device` names another device, in torch's words: "cuda:0".
    `%d = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>`
    """

    numbers: Sequence[Operand[Any]]
    memory: Result[Any]
    optional = ("device",)
    device_name = value_of("device", "")  # "" on the module's target

    def problem(self) -> str:
        return (
            verify.no_memory(self.memory.type)
            or verify.missing_numbers(self.numbers, require_shaped_info(self.memory.type).shape.count(None), "sizes")
            or verify.no_device(self, "device")
        )


def alloc(type_: ir.Type, numbers: Sequence[ir.Value] = ()) -> AllocOp:
    """Builds an allocation of the `!torch.tensor` type `type_`, whose open sizes are `numbers`."""
    return AllocOp.build(numbers, [type_])
