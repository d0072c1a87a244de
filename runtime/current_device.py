"""The check before a call that the current GPU is the one that the program's own tensors are made on."""

from collections.abc import Callable

from torch_mlir import ir

from dovetail.dialects.attributes import CURRENT_DEVICE
from dovetail.dialects.stated import stated
from dovetail.errors import AliasMismatch
from dovetail.runtime.cuda import torch_streams


def on_current_device(module: ir.Module, function: Callable) -> Callable:
    """`function`, which raises AliasMismatch, before anything ran, if another GPU is current than the module states."""
    if CURRENT_DEVICE not in module.operation.attributes:
        return function
    number = stated(module.operation, CURRENT_DEVICE, ir.IntegerAttr)

    def run(arguments: list):
        current = torch_streams.current_device()
        if current != number:
            raise AliasMismatch(f"the current GPU is cuda:{current}, the program makes tensors on cuda:{number}")
        return function(arguments)

    return run
