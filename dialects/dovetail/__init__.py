"""The `dovetail` dialect, defined in Python. Import it from here; every op is registered by then."""

from torch_mlir.dialects import ext

from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.dovetail.ops import (
    AllocOp,
    DetachOp,
    GradientOp,
    OwnOp,
    ReadOp,
    SetMetadataOp,
    TangentOp,
    ViewOp,
    WriteOp,
)
from dovetail.dialects.dovetail.types import RefType

__all__ = [
    "AllocOp",
    "DetachOp",
    "Dovetail",
    "GradientOp",
    "OwnOp",
    "ReadOp",
    "RefType",
    "SetMetadataOp",
    "TangentOp",
    "ViewOp",
    "WriteOp",
    "ext",
]
