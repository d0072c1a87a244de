"""A module for a GPU as one for the CPU: what runs it op by op where there is no such GPU."""

import torch
from torch_mlir import ir

from dovetail.dialects.attributes import CURRENT_DEVICE, DEVICE, TARGET, TF32
from dovetail.dialects.dovetail import AllocOp, RefType
from dovetail.dialects.reading import Module, arguments, body, drop_attributes
from dovetail.dialects.statements.devices import CPU, home


def runnable(module: ir.Module) -> ir.Module:
    """`module`, or if its GPU is not there a copy in which all that lies on GPUs lies on the CPU."""
    return module if is_here(home(module)) else on_host(module)


def is_here(device: str) -> bool:
    """Whether tensors can be made on `device`."""
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError):  # a PyTorch without CUDA says so by an assertion
        if torch.cuda.is_available() and torch.device(device).index < torch.cuda.device_count():
            raise  # an error of the device, or CUDA in a forked child
        return False
    return True


def on_host(module: ir.Module) -> ir.Module:
    """A copy of `module` that computes the same on the CPU, copies between devices being copies."""
    made = ir.Module.parse(str(module), module.context)
    attributes = made.operation.attributes
    with module.context:
        attributes[TARGET] = ir.StringAttr.get(CPU)
        for name in {DEVICE, CURRENT_DEVICE, TF32}.intersection(attributes):
            del attributes[name]
        for function_op in Module(made).functions.values():
            type_ = function_op.type
            moved = ir.FunctionType.get([*map(_moved, type_.inputs)], [*map(_moved, type_.results)])
            function_op.attributes["function_type"] = ir.TypeAttr.get(moved)
            for value in [] if function_op.is_external else arguments(function_op):
                value.set_type(_moved(value.type))
            for op in body(function_op):
                _move(op)
    return made


def _move(op: ir.Operation) -> None:
    for result in op.results:
        result.set_type(_moved(result.type))
    drop_attributes(op, "device" if op.name == AllocOp.OPERATION_NAME else DEVICE)
    if op.name == "torch.constant.device":
        op.attributes["value"] = ir.StringAttr.get(CPU)


def _moved(type_: ir.Type) -> ir.Type:
    if not isinstance(type_, RefType) or not type_.device:
        return type_
    return RefType.of(type_.tensor_type, type_.strides)
