"""What a region states of how it is compiled and run, and what a call of it moves."""

from collections.abc import Collection

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DRIVER, MEASURED, VARIANT
from dovetail.dialects.dovetail import CopyOp
from dovetail.dialects.reading import Module, arguments, attribute
from dovetail.dialects.sizes.expected import expected_bytes
from dovetail.dialects.torch_facts.types import is_memory_type
from dovetail.errors import ModuleError

CHOICE = (VARIANT, DRIVER, MEASURED)
"""On a region: how it is compiled, if not as by default, what runs it, and the figures that tuning chose by."""


def choice(region: func.FuncOp, name: str, otherwise: str | None = None, valid: Collection[str] | None = None) -> str:
    """What `region` says under `name`, one of `CHOICE` or why it is kept apart.

    Raises:
        ModuleError: if that is none of the words that are `valid`, where they are given, with the location; if it says
            nothing, and there is no `otherwise`.
    """
    if name not in region.attributes and otherwise is not None:
        return otherwise
    stated = attribute(region, name)
    if not isinstance(stated, ir.StringAttr) or (valid is not None and stated.value not in valid):
        expected = ", ".join(valid or ["a string"])
        raise ModuleError(f"{region.location}: expects '{name}' to be {expected}, got {stated or 'none'}")
    return stated.value


def driver_of(region: func.FuncOp, drivers: Collection[str]) -> str:
    """Which of `drivers`, those of IREE's runtime for a device, runs `region` without a plan; "" where there are none.

    Raises:
        ModuleError: if it says none of them.
    """
    return choice(region, DRIVER, None if drivers else "", drivers)


def is_copy(op: ir.Operation) -> bool:
    """Whether `op` is a `dovetail.copy`, or the `clone` that stands for one in a region."""
    return op.name in (CopyOp.OPERATION_NAME, "torch.aten.clone")


def region_bytes(module: ir.Module) -> dict[str, int]:
    """Bytes that one call of each region reads and writes, each argument once; where sizes are open, as expected."""
    return {name: expected_bytes(arguments(region)) for name, region in Module(module).regions.items()}


def destinations(region: func.FuncOp) -> tuple[bool, ...]:
    """Whether each argument of a lowered region is memory that it writes."""
    return tuple(map(is_memory_type, region.type.inputs))
