"""Types of the dovetail dialect."""

from torch_mlir import ir

from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.torch_facts.types import TensorInfo, is_tensor, is_value_type, read_once, require_tensor_info


class BufferType(Dovetail.Type, name="buffer"):
    """Bytes in memory, for compiled code to read and write: all of a transient, or a `dovetail.subspan`.

    `!dovetail.buffer`
    """


class RefType(Dovetail.Type, name="ref"):
    """A tensor's memory as the user sees it: shape and element type, then strides in elements from its first one.

    `!dovetail.ref<!torch.vtensor<[2,3],f32>, strided<[3, 1]>>`
    """

    SOUND = "a ref to a static '!torch.vtensor' with one stride a dimension and no offset"

    tensor: ir.TypeAttr
    layout: ir.StridedLayoutAttr

    @property
    @read_once
    def tensor_type(self) -> ir.Type:
        """The `!torch.vtensor` type of a value read from here."""
        return ir.TypeAttr(self.params[0]).value

    @property
    def info(self) -> TensorInfo:
        return require_tensor_info(self.tensor_type)

    @property
    @read_once
    def strides(self) -> tuple[int, ...]:
        """Strides in elements."""
        return tuple(ir.StridedLayoutAttr(self.params[1]).strides)

    @property
    @read_once
    def is_sound(self) -> bool:
        """Whether the parameters fit together (`SOUND`). IRDL checks only their kinds, and types have no verifier."""
        if not (is_value_type(self.tensor_type) and is_tensor(self.tensor_type)):
            return False
        fits = len(self.strides) == len(self.info.shape) and ir.StridedLayoutAttr(self.params[1]).offset == 0
        return fits and all(stride >= 0 for stride in self.strides)  # a `?` reads as the least integer

    @classmethod
    def of(cls, tensor: ir.Type, strides: tuple[int, ...] | None = None) -> "RefType":
        """The ref to memory of `tensor`'s shape; row-major where no strides are given."""
        strides = require_tensor_info(tensor).contiguous_strides if strides is None else strides
        return cls.get(tensor, ir.StridedLayoutAttr.get(0, list(strides)))
