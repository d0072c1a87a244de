"""What `verify-level` asks of memory that is not on the module's own device: that its programs can reach it."""

import re
from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DEVICE
from dovetail.dialects.dovetail import AllocOp, OwnOp, RefType, TangentOp
from dovetail.dialects.reading import Module, of_class
from dovetail.dialects.statements.devices import Devices, home
from dovetail.dialects.statements.target import REACHED_BY
from dovetail.dialects.torch_facts.types import is_value_type
from dovetail.passes.base import fail


def check_devices(module: ir.Module, found: Module, target: str) -> None:
    """Raises PassError for memory on a device that no program for `target` reaches, and in regions for any but its own.

    Views and what is read lie where their operand does; of the module's own device nothing is said, so that there is
    one text.
    """
    kind, own = target.partition(":")[0], home(module)
    if DEVICE in module.operation.attributes and not (kind != "cpu" and re.fullmatch(rf"{kind}:[1-9]\d*", own)):
        expected = "none" if kind == "cpu" else f'"{kind}:1" or one with a larger number'
        raise fail(module.operation, f'expects \'{DEVICE}\' at target "{target}" to be {expected}, got "{own}"')
    reached = REACHED_BY[kind]
    for op, device in _stated(found):
        is_neighbour = kind != "cpu" and device.startswith(f"{kind}:") and device != own
        if device not in reached and not is_neighbour:
            others = [f'"{each}"' for each in reached] + ([f'another GPU than "{own}"'] if kind != "cpu" else [])
            expected = " or ".join(others) or "none"
            raise fail(op, f'names the device "{device}", expected {expected} at target "{target}"')
    if kind != "cpu":
        _check_regions(module, found)


def _stated(found: Module) -> Iterator[tuple[ir.Operation | ir.OpView, str]]:
    for name, function_op in found.functions.items():
        types = [*function_op.type.inputs, *function_op.type.results]
        for type_ in types:
            if isinstance(type_, RefType) and type_.device:
                yield function_op, type_.device
        for op in of_class(found.bodies[name], AllocOp, OwnOp, TangentOp):
            view = op.opview
            device = view.device_name if isinstance(view, AllocOp) else view.ref.type.device
            if device:
                yield op, device


def _check_regions(module: ir.Module, found: Module) -> None:
    """What a region takes lies on the module's own device, but for numbers that it makes itself."""
    devices = Devices(module)
    for ops in found.bodies.values():
        for op in of_class(ops, func.CallOp):
            if found.region(op) is None:
                continue
            for value in op.operands:
                if is_value_type(value.type) and devices.of(value) != devices.home:
                    message = f"takes a tensor on {devices.of(value)}, expected {devices.home}, where regions run"
                    raise fail(op, message)
