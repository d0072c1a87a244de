"""`dovetail.alloc`: memory for a region's result."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp


class AllocOp(VerifiedOp, name="alloc"):
    """Uninitialised, row-major memory from PyTorch's allocator, for a region to write its result to.

    It lies on the module's target, unless `device` names another device, in torch's words: "cuda:0".
    `%d = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>`
    """

    memory: Result[Any]
    optional = ("device",)

    def problem(self) -> str:
        return verify.no_memory(self.memory.type) or verify.no_device(self, "device")

    @property
    def device_name(self) -> str:
        """Where the memory lies; "" on the module's target."""
        return ir.StringAttr(self.attributes["device"]).value if "device" in self.attributes else ""


def alloc(type_: ir.Type) -> AllocOp:
    """Builds an allocation of the `!torch.tensor` type `type_`."""
    return AllocOp(type_)
