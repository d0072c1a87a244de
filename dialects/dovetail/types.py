"""Types of the dovetail dialect."""

from torch_mlir import ir

from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.torch_types import TensorInfo, require_tensor_info


class RefType(Dovetail.Type, name="ref"):
    """A tensor's memory as the user sees it: shape and element type, then strides in elements from its first one.

    `!dovetail.ref<!torch.vtensor<[2,3],f32>, strided<[3, 1]>>`
    """

    tensor: ir.TypeAttr
    layout: ir.StridedLayoutAttr

    @property
    def tensor_type(self) -> ir.Type:
        """The `!torch.vtensor` type of a value read from here."""
        return ir.TypeAttr(self.params[0]).value

    @property
    def info(self) -> TensorInfo:
        return require_tensor_info(self.tensor_type)

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements."""
        return tuple(ir.StridedLayoutAttr(self.params[1]).strides)

    @classmethod
    def of(cls, tensor: ir.Type, strides: tuple[int, ...] | None = None) -> "RefType":
        """The ref to memory of `tensor`'s shape; row-major where no strides are given."""
        strides = require_tensor_info(tensor).contiguous_strides if strides is None else strides
        return cls.get(tensor, ir.StridedLayoutAttr.get(0, list(strides)))
