"""What `verify-level` asks of branches and loops: their functions exist, and take and return what they must."""

from collections.abc import Mapping

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.control_flow import COND, PARTS, control_flow_name, subgraphs
from dovetail.dialects.reading import Module, Role, referred, role, symbol
from dovetail.dialects.torch_facts.types import is_torch_type, tensor_info
from dovetail.passes.base import fail


def check_control_flow(module: ir.Module, found: Module) -> None:
    """Raises PassError for a call of control flow that can't run, and for a function that would run itself.

    `found` are the functions of `module`.
    """
    ordered = subgraphs(module)
    for name, function_op in found.of(Role.SUBGRAPH).items():
        if name not in ordered:
            raise fail(function_op, f"'@{name}' runs itself, directly or through others")
    for ops in found.bodies.values():
        for op in ops:
            if control_flow_name(op):
                _check(op, found.functions)


def _check(op: ir.Operation, found: Mapping[str, func.FuncOp]) -> None:
    called = [_callee(op, part, found) for part in PARTS[control_flow_name(op) or ""]]
    operands, results = [value.type for value in op.operands], [value.type for value in op.results]
    if control_flow_name(op) == COND:
        _check_predicate(op, operands[:1], "as its first operand")
        for function_op in called:
            _check_type(op, function_op, operands[1:], results)
        return
    if operands[: len(results)] != results:
        raise fail(op, "expects its first operands to be of its results' types: the values that it carries")
    condition, loop = called
    _check_type(op, condition, operands, list(condition.type.results))
    _check_predicate(op, list(condition.type.results), f"from '@{symbol(condition)}'")
    _check_type(op, loop, operands, results)


def _callee(op: ir.Operation, part: str, found: Mapping[str, func.FuncOp]) -> func.FuncOp:
    if part not in op.attributes or not isinstance(op.attributes[part], ir.FlatSymbolRefAttr):
        raise fail(op, f"expects '{part}' to name a function")
    name = referred(op, part)
    if name not in found or role(found[name]) is not Role.SUBGRAPH:
        raise fail(op, f"refers to '@{name}', which is no subgraph")
    return found[name]


def _check_predicate(op: ir.Operation, types: list[ir.Type], where: str) -> None:
    infos = [tensor_info(type_) for type_ in types]
    is_truth = len(types) == 1 and (is_torch_type(types[0], "bool") or (infos[0] is not None and infos[0].numel == 1))
    if not is_truth:
        got = ", ".join(f"'{each}'" for each in types) or "nothing"
        raise fail(op, f"expects one truth value {where}, got {got}")


def _check_type(op: ir.Operation, callee: func.FuncOp, arguments: list, results: list) -> None:
    if list(callee.type.inputs) != arguments or list(callee.type.results) != results:
        expected = ir.FunctionType.get(arguments, results, op.context)
        raise fail(op, f"expects '@{symbol(callee)}' to be of type '{expected}', got '{callee.type}'")
