"""Where each value lies: values have no device in their types, but what computes them has operands that lie somewhere.

A program for the CPU has all of it there. In a program for a GPU, an op computes where its operands are, as ATen's
dispatcher decides: on the device of the first tensor that is no number on the CPU.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import chain, repeat

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import DEVICE, TARGET
from dovetail.dialects.control_flow import called_subgraphs
from dovetail.dialects.dovetail import AllocOp, RefType, ReuseOp
from dovetail.dialects.reading import Module, Role, arguments, body, made_by, producer, returned, role, symbol, users
from dovetail.dialects.statements.calls import returned_saved
from dovetail.dialects.statements.stated import stated
from dovetail.dialects.statements.target import device_of, device_type
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.types import (
    is_list_type,
    is_memory_type,
    is_torch_type,
    is_value_type,
    tensor_info,
)

CPU = "cpu"
NUMBER = "torch.prim.NumToTensor.Scalar"
"""A number as a tensor, on the CPU, where every op may take it."""

_NAMED = "torch.constant.device"
_DECIDING = (NUMBER, "dovetail.", "func.call", "torch.operator")
"""Ops whose results may lie elsewhere though all that they take lies on the module's own device; so may those of ops
that name a device. All others follow from what they take, which costs much to look at, and most programs are of one
device."""


def home(module: ir.Module | ir.Operation) -> str:
    """Where memory of `module` lies that names no device, in torch's words: "cpu" or "cuda:0"."""
    attributes = module.operation.attributes
    if DEVICE in attributes:
        return stated(module.operation, DEVICE, ir.StringAttr)
    kind = device_type(module)
    return kind if kind == CPU else f"{kind}:0"


def described(module: ir.Module) -> str:
    """Where `module` runs, as users read it: "cpu", or "cuda:0 (sm_90)"."""
    own, (_, _, architecture) = home(module), device_of(module).partition(":")
    return f"{own} ({architecture})" if architecture else own


def ref_device(type_: RefType, module: ir.Module | ir.Operation) -> str:
    """Where the memory of a ref lies, in torch's words."""
    return type_.device or home(module)


def module_beside(op: ir.OpView) -> ir.Module:
    """A module without functions, for the target and the device of the one that `op` stands in."""
    made, attributes = ir.Module.create(), op.operation.parent.attributes
    for name in (TARGET, DEVICE):
        if name in attributes:
            made.operation.attributes[name] = attributes[name]
    return made


class Devices:
    """The devices of the values of `module`.

    `known` are those of arguments that the module doesn't tell.
    """

    def __init__(self, module: ir.Module | ir.Operation, known: Mapping[ir.Value, str] | None = None):
        self.home = home(module)
        self.is_single = self.home == CPU
        self._operation = module
        self._known: dict[ir.Value, str] = dict(known or {})
        self._read: set[func.FuncOp] = set()
        # Of functions that were read: what lies on the module's own device without being noted, and what may not.
        self._seen: set[ir.Operation] = set()
        self._affected: set[ir.Operation] = set()

    @cached_property
    def _module(self) -> Module:
        return Module(self._operation)

    def of(self, value: ir.Value) -> str:
        """Where the tensor, or the ref, `value` lies, in torch's words."""
        if self.is_single:
            return self.home
        op = producer(value)
        if value not in self._known:
            self._read_function((value.owner if op is None else op.block).owner.opview)
        if value not in self._known and op is not None and op not in self._seen:  # built since
            self._note(op)
        return self._known.get(value, self.home)

    def forget(self, op: ir.Operation) -> None:
        """Must be told before `op` is erased: another may come to lie at its address."""
        self._seen.discard(op)
        for result in op.results:
            self._known.pop(result, None)

    def elsewhere(self, op: ir.Operation) -> str:
        """The device that `op` computes on or takes a tensor from, if it is not the module's own; "" if it is."""
        if self.is_single or op.name == NUMBER:
            return ""
        tensors = [*op.results, *(operand for operand in tensor_operands(op) if made_by(operand, NUMBER) is None)]
        return next((each for value in tensors if (each := self.of(value)) != self.home), "")

    def _read_function(self, function_op: func.FuncOp) -> None:
        if function_op in self._read:
            return
        self._read.add(function_op)
        for value, device in zip(arguments(function_op), self._arguments(function_op), strict=False):
            self._know(value, self._known.get(value, device))
        for op in body(function_op):
            self._seen.add(op)
            name = op.name
            if name == _NAMED:
                self._affected.update(users(*op.results))
            elif op in self._affected or name.startswith(_DECIDING) or DEVICE in op.attributes:
                self._note(op)

    def _note(self, op: ir.Operation) -> None:
        for result, device in zip(op.results, self._results(op), strict=False):
            self._know(result, device)

    def _know(self, value: ir.Value, device: str) -> None:
        self._known[value] = device
        if device != self.home:
            self._affected.update(users(value))

    def _arguments(self, function_op: func.FuncOp) -> list[str]:
        handed_over: list[ir.Value] = []
        if role(function_op) is Role.BACKWARD and Role.FORWARD in self._module:
            handed_over = [value for value, _ in returned_saved(self._module.forward)]
        elif role(function_op) is Role.SUBGRAPH:
            handed_over = self._operands_of(function_op)
        known = chain([self.of(value) for value in handed_over], repeat(""))
        return [self._stated(*pair) for pair in zip(arguments(function_op), known, strict=False)]

    def _stated(self, value: ir.Value, known: str) -> str:
        device = value.type.device if isinstance(value.type, RefType) else known
        return device or self.home

    def _operands_of(self, function_op: func.FuncOp) -> list[ir.Value]:
        """What the first op that runs the subgraph `function_op` hands to it, behind a predicate, if there is one."""
        callers = self._module.of(Role.JOINT, Role.FORWARD, Role.BACKWARD, Role.SUBGRAPH).values()
        ops = (op for caller in callers for op in body(caller) if symbol(function_op) in called_subgraphs(op))
        operands = next((list(op.operands) for op in ops), [])
        return operands[max(len(operands) - len(arguments(function_op)), 0) :]

    def _results(self, op: ir.Operation) -> list[str]:
        name = op.name  # making an op's view costs ten times as much
        if name == AllocOp.OPERATION_NAME:
            return [op.opview.device_name or self.home]
        if name == ReuseOp.OPERATION_NAME:
            return [self.of(op.operands[0])]
        if called := called_subgraphs(op):
            return [self.of(result) for result in returned(self._module.functions[called[-1]])]
        if name == "func.call":
            return [self._stated(value, "") for value in op.results]
        computed = self._computed(op)
        return [self._stated(value, computed) for value in op.results]

    def _computed(self, op: ir.Operation) -> str:
        if DEVICE in op.attributes:
            return stated(op, DEVICE, ir.StringAttr)
        if op.name == NUMBER:
            return CPU
        given = next((each for value in op.operands if (each := named_device(value))), "")
        return given or self.of_operands(op)

    def of_operands(self, op: ir.Operation) -> str:
        """Where ATen computes `op` that names no device: where the first tensor is that is no number on the CPU."""
        first = ""
        for value in tensor_operands(op):
            device = self.of(value)
            if device != CPU or not is_number(value):
                return device
            first = first or device
        return first or self.home


def named_device(value: ir.Value) -> str:
    """The device, in torch's words, that `value` names; "" if it is none."""
    op = made_by(value, _NAMED) if is_torch_type(value.type, "Device") else None
    return "" if op is None else ir.StringAttr(op.attributes["value"]).value


def tensor_operands(op: ir.Operation) -> Iterator[ir.Value]:
    """The operands that are tensors or refs, those in lists, too."""
    for value in op.operands:
        if _is_tensor(value.type):
            yield value
        elif is_list_type(value.type) and (listed := made_by(value, LIST)) is not None:
            yield from (operand for operand in listed.operands if _is_tensor(operand.type))


def _is_tensor(type_: ir.Type) -> bool:
    return is_value_type(type_) or is_memory_type(type_) or isinstance(type_, RefType)


def is_number(value: ir.Value) -> bool:
    """Whether the tensor, or ref, `value` has no dimension: on the CPU, every op may take it."""
    info = tensor_info(value.type.tensor_type if isinstance(value.type, RefType) else value.type)
    return info is not None and info.shape == ()
