"""What calls are in Python: regions, programs, library kernels, branches and loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.python import aten, tensors
from dovetail.backends.python.control_flow import run_cond, run_while_loop
from dovetail.backends.python.memory import argument
from dovetail.backends.python.on_values import callable_for
from dovetail.backends.python.operators import overload
from dovetail.backends.python.parts import INTO
from dovetail.dialects.attributes import GRADIENT_STRIDES
from dovetail.dialects.control_flow import COND, called_subgraphs, control_flow_name
from dovetail.dialects.reading import Role, referred, result_fact
from dovetail.dialects.sizes.size_expressions import said
from dovetail.dialects.statements.calls import written
from dovetail.dialects.statements.devices import CPU
from dovetail.dialects.statements.effects import check_effect
from dovetail.dialects.statements.operand_strides import stated_strides
from dovetail.dialects.torch_facts.ops import aten_name, row
from dovetail.dialects.torch_facts.out_overloads import out_overload
from dovetail.dialects.torch_facts.types import holds_tensors, is_memory, tensor_info
from dovetail.errors import ModuleError

if TYPE_CHECKING:
    from dovetail.backends.python.emitter import Emitter

# Functions that take one list and empty it; the others take their arguments.
_BOXED = (Role.FORWARD, Role.BACKWARD)


def emit_call(emitter: Emitter, op: func.CallOp) -> None:
    callee = referred(op, "callee")
    called, operands, taken_for = emitter.called(callee), list(op.operation.operands), emitter.role_of(callee)
    if taken_for in _BOXED:
        emitter.assign_tuple(op.results, f"{called}([{', '.join(map(emitter.name, operands))}])")
    elif taken_for is Role.BORDER:
        emitter.assign_tuple(op.results, f"{called}({', '.join(map(emitter.name, operands))})")
    else:
        emitter.assign(op.results, f"{called}({', '.join(argument(emitter, value) for value in operands)})")


def emit_return(emitter: Emitter, op: func.ReturnOp) -> None:
    given = [
        gradient(emitter, value, result_fact(emitter.function, index, GRADIENT_STRIDES))
        for index, value in enumerate(op.operation.operands)
    ]
    results = f"({as_tuple(given)})"
    emitter.line(f"return {results}, gradients" if emitter.has_tangents else f"return {results}")


def emit_torch(emitter: Emitter, op: ir.Operation) -> None:
    """An op of the torch dialect, or a library call.

    Raises:
        NotImplementedError: for one that can't be called from Python, with its location.
        ModuleError: for one that is given memory which it can't write its result to, or has an effect that it does not
            state.
    """
    special = aten.SPECIAL.get(op.name)
    if special is not None:
        if (expression := special(emitter, op)) is not None:
            emitter.assign(op.results, expression)
    elif control_flow_name(op):
        _control_flow(emitter, op)
    elif (name := aten_name(op)) is not None:
        _aten(emitter, name, op)
    else:
        raise NotImplementedError(f"{op.location}: '{op.name}' op can't be called from Python")


def _aten(emitter: Emitter, name: str, op: ir.Operation) -> None:
    into = written(op)
    write = None if into is None else INTO.get(row(op).writes_into)
    if write is not None:
        write(emitter, *op.operands)
        return
    called_as = name if into is None else out_overload(name)
    if called_as is None:
        raise ModuleError(f"{name} has no overload 'out', which writes to memory")
    target = overload(called_as)
    check_effect(op, overload(name))
    takes_memory = any(map(is_memory, op.operands))
    called = target if takes_memory else callable_for(target)
    function = emitter.bind(name.removesuffix(".default").replace(".", "_"), called)
    rows = {position for position, argument in enumerate(target._schema.arguments) if argument.name in row(op).in_rows}
    operands = [
        _in_rows(emitter, value) if position in rows else _laid_out(emitter, emitter.name(value), strides)
        for position, (value, strides) in enumerate(zip(op.operands, stated_strides(op), strict=True))
    ]
    if emitter.home != CPU and not any(map(holds_tensors, (value.type for value in op.operands))):
        # What makes a tensor from nothing makes it where the program's memory lies, if it names no device.
        operands = [
            f"torch.device({emitter.home!r})"
            if text == "None" and str(stated.real_type) == "Optional[Device]"
            else text
            for stated, text in zip(target._schema.arguments, operands, strict=False)
        ]
    arguments = aten.arguments(target, operands)
    if "torch." in arguments:
        emitter.namespace.setdefault("torch", torch)
    emitter.assign(op.results, f"{function}({arguments})")


def _laid_out(emitter: Emitter, operand: str, strides: ir.Attribute | None) -> str:
    """An operand with the strides, if the op states any.

    Of a list, with those of each tensor in it: it holds them, their own names may have ended with their lives.
    """
    wanted: object
    match strides:
        case None | ir.UnitAttr():
            return operand
        case ir.ArrayAttr():
            parts = (_laid_out(emitter, f"{operand}[{index}]", stride) for index, stride in enumerate(strides))
            return f"[{', '.join(parts)}]"
        case ir.AffineMapAttr():
            wanted = f"({as_tuple([said(result, emitter.symbols) for result in strides.value.results])})"
        case ir.IntegerAttr():
            wanted = f"layouts[{strides.value}]"
        case _:
            wanted = tuple(strides)
    return f"{emitter.bound('laid_out', tensors.laid_out)}({operand}, {wanted})"


def gradient(emitter: Emitter, value: ir.Value, strides: ir.Attribute | None) -> str:
    """What autograd is handed: `value`, in the order in memory that eager's has, if that is stated."""
    name = emitter.name(value)
    return name if strides is None else f"{emitter.bound('in_order', tensors.in_order)}({name}, {tuple(strides)})"


def _in_rows(emitter: Emitter, value: ir.Value) -> str:
    """An operand whose last dimension is contiguous."""
    name = emitter.name(value)
    return name if tensor_info(value.type) is None else f"{emitter.bound('in_rows', tensors.in_rows)}({name})"


def as_tuple(names: list[str]) -> str:
    """Names as a tuple without its brackets, which for one name is a comma."""
    return f"{', '.join(names)}{',' if len(names) == 1 else ''}"


def _control_flow(emitter: Emitter, op: ir.Operation) -> None:
    functions = ", ".join(map(emitter.called, called_subgraphs(op)))
    operands = [emitter.name(value) for value in op.operands]
    if control_flow_name(op) == COND:
        run, arguments = emitter.bind("run_cond", run_cond), f"{operands[0]}, [{', '.join(operands[1:])}]"
    else:
        carried = len(op.results)
        run = emitter.bind("run_while_loop", run_while_loop)
        arguments = f"[{', '.join(operands[:carried])}], [{', '.join(operands[carried:])}]"
    emitter.assign_tuple(op.results, f"{run}({functions}, {arguments})")
