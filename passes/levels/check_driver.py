"""What `verify-level` asks of lowered regions: each says what runs it."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.target import IREE_DRIVERS
from dovetail.dialects.attributes import DRIVER
from dovetail.dialects.reading import attribute
from dovetail.passes.base import fail


def check_driver(region: func.FuncOp, pass_name: str) -> None:
    """Raises PassError for a region without a driver of IREE's, which runs it where it has no launch plan."""
    stated = attribute(region, DRIVER)
    if not isinstance(stated, ir.StringAttr) or stated.value not in IREE_DRIVERS:
        expected = f"expects '{DRIVER}' to be one of {', '.join(IREE_DRIVERS)}"
        raise fail(region, pass_name, f"{expected}, got {stated or 'none'}")
