"""What a CUDA graph of a half takes for granted: which arguments stay where they are, and that the host has no part."""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BACKWARD, FORWARD, STATIC
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dovetail import DestinationOp, OwnOp
from dovetail.dialects.memory.roots import memory_root
from dovetail.dialects.reading import Module, Role, argument_fact, arguments, of_class, referred, symbol
from dovetail.dialects.statements.devices import CPU, Devices, is_number, tensor_operands
from dovetail.dialects.statements.effects import effect
from dovetail.dialects.statements.saved import saved_values
from dovetail.dialects.torch_facts.arithmetic import CONVERSIONS
from dovetail.dialects.torch_facts.ops import NAMESPACES, aten_name, is_awaited


def staying(module: Module) -> dict[str, set[int]]:
    """The numbers of the arguments that lie at one address call by call, of each half by its symbol."""
    found: dict[str, set[int]] = {}
    borders = {referred(op, FORWARD): op for op in module.borders.values()}
    calls = module.calls()
    for name, forward in module.of(Role.FORWARD).items():
        border = borders.get(name)
        found[name] = _of_forward(forward, calls.get(name if border is None else symbol(border), []), module)
        if border is not None:
            backward = module.functions[referred(border, BACKWARD)]
            found[symbol(backward)] = _of_backward(forward, found[name], backward)
    return found


def _of_forward(forward: func.FuncOp, calls: list[func.CallOp], module: Module) -> set[int]:
    """A parameter or buffer stays, and what is updated in place, since the user's memory must be."""
    updated = {op.operands[0] for op in of_class(module.ops(forward), DestinationOp)}
    return {
        number
        for number, argument in enumerate(arguments(forward))
        if argument in updated or (calls and all(_is_static(call, number) for call in calls))
    }


def _is_static(call: func.CallOp, number: int) -> bool:
    root = memory_root(call.operands[number])
    if not isinstance(root.owner, ir.Block):
        return False
    caller = call.operation.parent.opview
    return argument_fact(caller, ir.BlockArgument(root).arg_number, STATIC) is not None


def _of_backward(forward: func.FuncOp, given: set[int], backward: func.FuncOp) -> set[int]:
    """What the forward made stays where it was made, and what was `given` to it. Tangents come from anywhere."""
    saved = enumerate(saved_values(forward, backward))
    return {number for number, value in saved if value.is_made or value.in_argument in given}


def refusal(op: ir.Operation, devices: Devices) -> str:
    """Why no graph can stand for `op`, of a half; "" if one can. Regions are launched: only loading tells."""
    if control_flow_name(op):
        return "the host decides what runs"
    if op.name == OwnOp.OPERATION_NAME and _is_on_cpu(op.result, devices):
        return "a result lies on the CPU"
    name = aten_name(op)
    if name is None or op.name in CONVERSIONS:
        return ""
    tensors = list(tensor_operands(op))
    if any(_is_on_cpu(result, devices) for result in op.results) and not _is_constant_number(op, tensors):
        return f"{name} makes a tensor on the CPU"
    if any(_is_on_cpu(tensor, devices) and not is_number(tensor) for tensor in tensors) or (
        tensors and all(_is_on_cpu(tensor, devices) for tensor in tensors)
    ):
        return f"{name} reads memory of the CPU"
    if name.partition(".")[0] not in NAMESPACES:
        return f"{name} may do anything on the host"
    return f"the host waits for the values of {name}" if is_awaited(name) else ""


def _is_constant_number(op: ir.Operation, tensors: Sequence[ir.Value]) -> bool:
    """Whether `op` makes the same number in each call, which is a parameter of the kernel that takes it."""
    return not tensors and effect(op) is None and all(is_number(result) for result in op.results)


def _is_on_cpu(value: ir.Value, devices: Devices) -> bool:
    return devices.of(value).startswith(CPU)
