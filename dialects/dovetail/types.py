"""Types of the dovetail dialect, and the attribute that is a part of them."""

import re
from collections.abc import Sequence

from torch_mlir import ir

from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.torch_facts.read_once import read_once
from dovetail.dialects.torch_facts.sizes import OpenSize, row_major
from dovetail.dialects.torch_facts.types import (
    ShapedInfo,
    TensorInfo,
    is_value_type,
    require_shaped_info,
    require_tensor_info,
    shaped_info,
)


class BufferType(Dovetail.Type, name="buffer"):
    """Bytes in memory, for compiled code to read and write: all of a transient or a constant, or a `dovetail.subspan`.

    `!dovetail.buffer`
    """


OPEN = -(2**63)
"""MLIR's word for a number that is not known, where numbers stand: the least integer of 64 bits, `?` in a type."""

DEVICE = re.compile(r"cpu|[a-z]+:\d+")
"""Torch's words for where a tensor lies."""


class LayoutAttr(Dovetail.Attribute, name="layout"):
    """The layout of memory on another device than the module's target: its strides, and that device in torch's words.

    `#dovetail.layout<strided<[3, 1]>, "cuda:0">`
    """

    strides: ir.StridedLayoutAttr
    device: ir.StringAttr


class RefType(Dovetail.Type, name="ref"):
    """A tensor's memory as the user sees it: shape and element type, then strides in elements from its first one.

    `!dovetail.ref<!torch.vtensor<[2,3],f32>, strided<[3, 1]>>`

    It lies on the module's target, unless a `#dovetail.layout` around the strides names another device:
    `!dovetail.ref<!torch.vtensor<[2,3],f32>, #dovetail.layout<strided<[3, 1]>, "cuda:0">>`

    Sizes and strides that are known only when the program runs are open:
    `!dovetail.ref<!torch.vtensor<[2,?],f32>, strided<[?, 1]>>`
    """

    SOUND = "a ref to a '!torch.vtensor' with one stride a dimension and no offset"

    tensor: ir.TypeAttr
    layout: ir.StridedLayoutAttr | LayoutAttr

    @property
    @read_once
    def tensor_type(self) -> ir.Type:
        """The `!torch.vtensor` type of a value read from here."""
        return ir.TypeAttr(self.params[0]).value

    @property
    def info(self) -> TensorInfo:
        """Of a tensor whose sizes are known."""
        return require_tensor_info(self.tensor_type)

    @property
    def shaped(self) -> ShapedInfo:
        """Of any tensor; sizes may be open."""
        return require_shaped_info(self.tensor_type)

    @property
    @read_once
    def strides(self) -> tuple[OpenSize, ...]:
        """Strides in elements; None for one that is open."""
        return tuple(None if stride == OPEN else stride for stride in self._strided.strides)

    @property
    def is_static(self) -> bool:
        """Whether all sizes and strides are known."""
        return self.shaped.is_static and None not in self.strides

    @property
    def is_row_major(self) -> bool:
        """Whether the strides are surely those of the row-major layout."""
        known = [0 if dim == 0 else size for dim, size in enumerate(self.shaped.shape)]  # nothing steps over the first
        return None not in known and self.strides == row_major(size for size in known if size is not None)

    @property
    @read_once
    def device(self) -> str:
        """Where the memory lies, in torch's words; "" on the module's target."""
        layout = self.params[1].maybe_downcast()
        return ir.StringAttr(layout.params[1]).value if isinstance(layout, LayoutAttr) else ""

    @property
    def _strided(self) -> ir.StridedLayoutAttr:
        layout = self.params[1].maybe_downcast()
        return ir.StridedLayoutAttr(layout.params[0]) if isinstance(layout, LayoutAttr) else layout

    @property
    @read_once
    def is_sound(self) -> bool:
        """Whether the parameters fit together (`SOUND`). IRDL checks only their kinds, and types have no verifier."""
        if not is_value_type(self.tensor_type) or shaped_info(self.tensor_type) is None:
            return False
        fits = len(self.strides) == len(self.shaped.shape) and self._strided.offset == 0
        return fits and all(stride is None or stride >= 0 for stride in self.strides)

    @classmethod
    def of(cls, tensor: ir.Type, strides: Sequence[OpenSize] | None = None, device: str = "") -> "RefType":
        """The ref to memory of `tensor`'s shape, row-major where no strides are given, on `device` or the target."""
        strides = require_tensor_info(tensor).contiguous_strides if strides is None else strides
        layout = ir.StridedLayoutAttr.get(0, [OPEN if stride is None else stride for stride in strides])
        return cls.get(tensor, LayoutAttr.get(layout, ir.StringAttr.get(device)) if device else layout)
