"""The `dovetail` dialect, defined in Python. Import it from here; every op is registered by then."""

from torch_mlir.dialects import ext

from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.ops import (
    AllocOp,
    BarrierOp,
    CopyBufferOp,
    CopyOp,
    DestinationOp,
    DetachOp,
    DispatchOp,
    FillBufferOp,
    FreeOp,
    GradientOp,
    OwnOp,
    ReadOp,
    ReuseOp,
    SetGradModeOp,
    SetMetadataOp,
    SubspanOp,
    TangentOp,
    TouchOp,
    TransientOp,
    ViewOp,
    WriteOp,
)
from dovetail.dialects.dovetail.types import BufferType, RefType

__all__ = [
    "AllocOp",
    "BarrierOp",
    "BufferType",
    "CopyBufferOp",
    "CopyOp",
    "DestinationOp",
    "DetachOp",
    "DispatchOp",
    "Dovetail",
    "FillBufferOp",
    "FreeOp",
    "GradientOp",
    "OwnOp",
    "ReadOp",
    "RefType",
    "ReuseOp",
    "SetGradModeOp",
    "SetMetadataOp",
    "SubspanOp",
    "TangentOp",
    "TouchOp",
    "TransientOp",
    "ViewOp",
    "WriteOp",
    "ext",
]
