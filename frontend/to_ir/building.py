"""Ops of the torch dialect that give one value, and functions whose type says what their body returns."""

from collections.abc import Iterable, Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.reading import Role, set_role
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.types import torch_type


def torch_op(name: str, type_: str | ir.Type, *operands: ir.Value) -> ir.Value:
    """The result of the op `name` ("torch.aten.add.int"), whose type may be given by its name in the dialect."""
    results = [torch_type(type_) if isinstance(type_, str) else type_]
    return ir.Operation.create(name, results=results, operands=list(operands)).result


def listed(elements: str, values: Sequence[ir.Value]) -> ir.Value:
    """A list of `values`, of the type `elements`."""
    return torch_op(LIST, f"list<{elements}>", *values)


def new_function(name: str, role: Role, arguments: Sequence[ir.Type], private: bool = True) -> func.FuncOp:
    """A function without a body that takes `arguments`, at the insertion point."""
    made = func.FuncOp(name, ir.FunctionType.get(arguments, []), visibility="private" if private else None)
    set_role(made, role)
    return made


def state_arguments(function_op: func.FuncOp, facts: Iterable[Mapping[str, ir.Attribute]]) -> None:
    """States what is known of each argument."""
    function_op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(dict(fact)) for fact in facts])


def finish(function_op: func.FuncOp, values: Sequence[ir.Value]) -> None:
    """Has a function return `values`, at the insertion point."""
    func.ReturnOp(values)
    signature = ir.FunctionType.get(function_op.type.inputs, [value.type for value in values])
    function_op.attributes["function_type"] = ir.TypeAttr.get(signature)
