"""Where results lie that lie neither where their operands do nor where an argument says: the op states it."""

from collections.abc import Sequence

import torch
from torch_mlir import ir

from dovetail.dialects.attributes import DEVICE
from dovetail.dialects.devices import Devices
from dovetail.dialects.reading import producer


def state_devices(module: ir.Module, placed: Sequence[tuple[ir.Value, torch.device]]) -> None:
    """Makes the ops of `module` say that each of the values, in order, lies on its device."""
    devices = Devices(module)
    for value, device in placed:
        op = producer(value)
        if op is not None and devices.of(value) != str(device):
            op.attributes[DEVICE] = ir.StringAttr.get(str(device), module.context)
            devices = Devices(module)
