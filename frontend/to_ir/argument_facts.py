"""What the IR states of arguments: their kind, what eager's backward would do, and how the guard compares them.

Of results, too, where they lie if that is neither where their operands do nor where an argument says.
"""

from collections.abc import Sequence

import torch
from torch_mlir import ir

from dovetail.dialects.attributes import DEVICE, NAME, REACHED, REQUIRES_GRAD, REREAD, STATIC, WATCHED
from dovetail.dialects.reading import producer
from dovetail.dialects.statements.devices import Devices
from dovetail.frontend.records import CapturedArgument, Needed


def stated(argument: CapturedArgument) -> dict[str, ir.Attribute]:
    """An argument's name, and what kind of argument it is."""
    attributes: dict[str, ir.Attribute] = {NAME: ir.StringAttr.get(argument.name)}
    if argument.requires_grad:
        attributes[REQUIRES_GRAD] = ir.UnitAttr.get()
    if argument.static:
        attributes[STATIC] = ir.UnitAttr.get()
    return attributes


def needed_facts(needed: Needed, numbers: dict[int, int]) -> dict[str, ir.Attribute]:
    """The owned results, by position in `numbers`, for which eager needs memory unchanged, or reads it again."""
    found = {
        name: sorted(numbers[index] for index in indices if index in numbers)
        for name, indices in ((WATCHED, needed.watched), (REREAD, needed.reread))
    }
    return {name: ir.DenseI64ArrayAttr.get(indices) for name, indices in found.items() if indices}


def reached(argument: CapturedArgument, differentiated: list[int], numbers: dict[int, int]) -> dict[str, ir.Attribute]:
    """The owned results whose gradients flow to an argument; nothing if all `differentiated` ones do."""
    if argument.gradient is None or argument.reached is None or set(differentiated) <= set(argument.reached):
        return {}
    found = sorted(numbers[index] for index in differentiated if index in argument.reached)
    return {REACHED: ir.DenseI64ArrayAttr.get(found)}


def state_devices(module: ir.Module, placed: Sequence[tuple[ir.Value, torch.device]]) -> None:
    """Makes the ops of `module` say that each of the values, in order, lies on its device."""
    devices = Devices(module)
    for value, device in placed:
        op = producer(value)
        if op is not None and devices.of(value) != str(device):
            op.attributes[DEVICE] = ir.StringAttr.get(str(device), module.context)
            devices = Devices(module)
