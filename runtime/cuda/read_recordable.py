"""Reads from the IR what CUDA graphs need: which arguments stay where they are, and what can't be recorded."""

from collections.abc import Callable, Collection, Mapping

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python.operators import overload
from dovetail.dialects.attributes import BACKWARD, FORWARD, STATIC
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dovetail import DestinationOp
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, Role, argument_fact, body, of_class, producer, referred, symbol
from dovetail.dialects.statements.devices import CPU, named_device
from dovetail.dialects.statements.saved import saved_values
from dovetail.dialects.torch_facts.arithmetic import CONVERSIONS
from dovetail.dialects.torch_facts.ops import aten_name
from dovetail.dialects.torch_facts.types import tensor_info
from dovetail.runtime.cuda.recorded import Recordable, Recorded

_BY_VALUES = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)
_NAMESPACES = ("aten", "prims")


def recorded_halves(found: Module, runs: Mapping[str, Callable], compiled: Collection[str]) -> dict[str, Recorded]:
    """What replays each of `runs`, the forwards and backwards of a module, by symbol."""
    made: dict[str, Recorded] = {}
    borders = {referred(op, FORWARD): op for op in found.borders.values()}
    for name, forward in found.of(Role.FORWARD).items():
        border = borders.get(name)
        [call] = found.calls()[name if border is None else symbol(border)]
        facts = recordable_forward(found, forward, call, compiled)
        made[name] = Recorded(runs[name], facts)
        if border is not None:
            backward = found.functions[referred(border, BACKWARD)]
            of_backward = recordable_backward(forward, facts, backward, compiled)
            made[symbol(backward)] = Recorded(runs[symbol(backward)], of_backward, made[name])
    return made


def recordable_forward(found: Module, forward: func.FuncOp, call: func.CallOp, compiled: Collection[str]) -> Recordable:
    """What is said of `forward`, which `call` in the host's function runs; `compiled` are the regions that launch.

    A parameter or buffer stays, and what is updated in place, since the user's memory must be.
    """
    entry, operands = found.call, list(call.operation.operands)
    updated = {op.operands[0] for op in of_class(body(forward), DestinationOp)}
    pairs = zip(forward.arguments, operands, strict=True)
    stays = (argument in updated or _is_static(entry, memory_root(operand)) for argument, operand in pairs)
    return Recordable(symbol(forward), refusal(forward, compiled), tuple(stays))


def recordable_backward(
    forward: func.FuncOp, of_forward: Recordable, backward: func.FuncOp, compiled: Collection[str]
) -> Recordable:
    """What is said of `backward`: what `forward` made stays where it was made. Tangents come from anywhere."""
    saved = saved_values(forward, backward)
    why_not = refusal(backward, compiled)
    if of_forward.refusal:
        why_not = why_not or f"@{of_forward.name} can't be either"
    made = [
        index
        for index, value in enumerate(saved)
        if not value.is_checked or value.result is not None or value.in_result is not None
    ]
    given = [value.in_argument is not None and of_forward.stays[value.in_argument] for value in saved]
    stays = [index in made or is_given for index, is_given in enumerate(given)]
    tangents = len(backward.type.inputs) - len(saved)
    return Recordable(symbol(backward), why_not, (*stays, *[False] * tangents), tuple(made))


def refusal(function_op: func.FuncOp, compiled: Collection[str]) -> str:
    """Why no graph can stand for `function_op`, with the line of the user's that is at fault; "" if one can."""
    for op in body(function_op):
        if reason := _refusal(op, compiled):
            return f"{op.location}: {reason}"
    return ""


def _refusal(op: ir.Operation, compiled: Collection[str]) -> str:
    if control_flow_name(op):
        return "the host decides what runs"
    if isinstance(op.opview, func.CallOp) and referred(op, "callee") not in compiled:
        return f"@{referred(op, 'callee')} runs on the host"
    name = aten_name(op)
    if name is None or op.name in CONVERSIONS:
        return ""
    tensors = [value for value in op.operands if tensor_info(value.type)]
    # The same number in each call is a parameter of the kernel that takes it.
    is_number = not tensors and [
        info and info.shape for info in (tensor_info(result.type) for result in op.results)
    ] == [()]
    if _is_on_cpu(op) and not is_number:
        return f"{name} makes a tensor on the CPU"
    if tensors and all((made := producer(tensor)) is not None and _is_on_cpu(made) for tensor in tensors):
        return f"{name} reads memory of the CPU"
    if name.partition(".")[0] not in _NAMESPACES:
        return f"{name} may do anything on the host"
    return f"the host waits for the values of {name}" if any(tag in overload(name).tags for tag in _BY_VALUES) else ""


def _is_on_cpu(op: ir.Operation) -> bool:
    """Whether `op` is told to put its result there."""
    return any(named_device(value).startswith(CPU) for value in op.operands)


def _is_static(entry: func.FuncOp, root: ir.Value) -> bool:
    is_argument = isinstance(root.owner, ir.Block)
    return is_argument and argument_fact(entry, ir.BlockArgument(root).arg_number, STATIC) is not None
