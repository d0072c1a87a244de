"""What `verify-level` asks of recordings: that the halves say what a CUDA graph takes for granted, and nothing else."""

from torch_mlir import ir

from dovetail.dialects.attributes import NOT_RECORDABLE, STAYS
from dovetail.dialects.reading import Module, argument_facts, attribute
from dovetail.dialects.statements.devices import CPU, Devices
from dovetail.dialects.statements.target import device_type
from dovetail.passes.base import fail
from dovetail.passes.border.recordable import refusal, staying


def check_recordable(module: Module) -> None:
    """Raises PassError where a graph would read where an argument lay once, or stand for what only the host does."""
    known = {} if device_type(module.operation) == CPU else staying(module)
    devices = Devices(module.operation)
    for name, function_op in module.functions.items():
        stays = known.get(name, set())
        for number, facts in enumerate(argument_facts(function_op)):
            if (STAYS in facts) != (number in stays):
                expected = f"to say '{STAYS}'" if number in stays else f"not to say '{STAYS}', as it may lie elsewhere"
                raise fail(function_op, f"expects argument {number} {expected}")
        for op in module.ops(function_op) if name in known else ():
            _check_op(op, devices)


def _check_op(op: ir.Operation, devices: Devices) -> None:
    said, reason = attribute(op, NOT_RECORDABLE), refusal(op, devices)
    expected = str(ir.StringAttr.get(reason, op.context)) if reason else "none"
    if str(said or "none") != expected:
        raise fail(op, f"expects '{NOT_RECORDABLE}' to be {expected}, got {said or 'none'}")
