"""What `verify-level` asks of branches and loops: their functions exist, and take and return what they must."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import SUBGRAPH
from dovetail.dialects.calls import symbol
from dovetail.dialects.control_flow import COND, ROLES, control_flow_name, is_subgraph, subgraphs
from dovetail.dialects.torch_facts.types import is_torch_type, tensor_info
from dovetail.passes.base import fail


def check_control_flow(
    module: ir.Module,
    functions: Mapping[str, func.FuncOp],
    bodies: Mapping[str, Sequence[ir.Operation]],
    pass_name: str,
) -> None:
    """Raises PassError for a call of control flow that can't run, and for a function that would run itself.

    `bodies` are the operations of each of the module's `functions`, by symbol name.
    """
    ordered = subgraphs(module)
    for name, function_op in functions.items():
        if is_subgraph(function_op) and name not in ordered:
            raise fail(function_op, pass_name, f"'@{name}' runs itself, directly or through others")
        for op in bodies[name]:
            if control_flow_name(op):
                _check(op, functions, pass_name)


def _check(op: ir.Operation, found: Mapping[str, func.FuncOp], pass_name: str) -> None:
    called = [_callee(op, role, found, pass_name) for role in ROLES[control_flow_name(op) or ""]]
    operands, results = [value.type for value in op.operands], [value.type for value in op.results]
    if control_flow_name(op) == COND:
        _check_predicate(op, operands[:1], "as its first operand", pass_name)
        for function_op in called:
            _check_type(op, function_op, operands[1:], results, pass_name)
        return
    if operands[: len(results)] != results:
        raise fail(op, pass_name, "expects its first operands to be of its results' types: the values that it carries")
    condition, loop = called
    _check_type(op, condition, operands, list(condition.type.results), pass_name)
    _check_predicate(op, list(condition.type.results), f"from '@{symbol(condition)}'", pass_name)
    _check_type(op, loop, operands, results, pass_name)


def _callee(op: ir.Operation, role: str, found: Mapping[str, func.FuncOp], pass_name: str) -> func.FuncOp:
    if role not in op.attributes or not isinstance(op.attributes[role], ir.FlatSymbolRefAttr):
        raise fail(op, pass_name, f"expects '{role}' to name a function")
    name = ir.FlatSymbolRefAttr(op.attributes[role]).value
    if name not in found or not is_subgraph(found[name]):
        raise fail(op, pass_name, f"refers to '@{name}', which is no function with '{SUBGRAPH}'")
    return found[name]


def _check_predicate(op: ir.Operation, types: list[ir.Type], where: str, pass_name: str) -> None:
    infos = [tensor_info(each) for each in types]
    is_truth = len(types) == 1 and (is_torch_type(types[0], "bool") or (infos[0] is not None and infos[0].numel == 1))
    if not is_truth:
        got = ", ".join(f"'{each}'" for each in types) or "nothing"
        raise fail(op, pass_name, f"expects one truth value {where}, got {got}")


def _check_type(op: ir.Operation, callee: func.FuncOp, inputs: list, results: list, pass_name: str) -> None:
    if list(callee.type.inputs) != inputs or list(callee.type.results) != results:
        expected = ir.FunctionType.get(inputs, results, op.context)
        raise fail(op, pass_name, f"expects '@{symbol(callee)}' to be of type '{expected}', got '{callee.type}'")
