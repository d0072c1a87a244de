"""The device that a module is for: its refs and allocations lie there, and its regions run there."""

from torch_mlir import ir

from dovetail.dialects.attributes import TARGET, TF32
from dovetail.errors import ModuleError

DEFAULT = "cpu"
"""Of a module that does not say."""

REACHED_BY: dict[str, tuple[str, ...]] = {"cpu": (), "cuda": ("cpu",)}
"""By device type of a target: the other devices on which its programs may have memory; only such a one is named."""


def device_of(module: ir.Module | ir.OpView | ir.Operation) -> str:
    """What `module` is for: "cpu", or a GPU's kind with its architecture, "cuda:sm_90".

    Raises:
        ModuleError: if it states no string.
    """
    attributes = module.operation.attributes
    if TARGET not in attributes:
        return DEFAULT
    stated = attributes[TARGET]
    if not isinstance(stated, ir.StringAttr):
        raise ModuleError(f"{module.operation.location}: expects '{TARGET}' to be a string, got {stated}")
    return stated.value


def device_type(module: ir.Module | ir.OpView | ir.Operation) -> str:
    """The type of the device that `module` is for, in torch's words: "cpu" or "cuda"."""
    return device_of(module).partition(":")[0]


def rounds_to_tf32(module: ir.Module | ir.OpView | ir.Operation) -> bool:
    """Whether convolutions of float32 round what they multiply to TF32, as `module` states."""
    return TF32 in module.operation.attributes
