"""The `dovetail` dialect, defined in Python. Import it from here; every op is registered by then."""

from torch_mlir.dialects import ext

from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.ops import (
    AllocOp,
    CopyOp,
    DestinationOp,
    DetachOp,
    FreeOp,
    GradientOp,
    OwnOp,
    ReadOp,
    ReuseOp,
    SetGradModeOp,
    SetMetadataOp,
    TangentOp,
    TouchOp,
    ViewOp,
    WriteOp,
)
from dovetail.dialects.dovetail.types import RefType

__all__ = [
    "AllocOp",
    "CopyOp",
    "DestinationOp",
    "DetachOp",
    "Dovetail",
    "FreeOp",
    "GradientOp",
    "OwnOp",
    "ReadOp",
    "RefType",
    "ReuseOp",
    "SetGradModeOp",
    "SetMetadataOp",
    "TangentOp",
    "TouchOp",
    "ViewOp",
    "WriteOp",
    "ext",
]
