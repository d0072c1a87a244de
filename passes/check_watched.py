"""What `verify-level` asks of `dovetail.watched`: it numbers owned results, in order."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import FORWARD, WATCHED, is_border, referred
from dovetail.dialects.dovetail import OwnOp
from dovetail.passes.base import fail
from dovetail.passes.rewriting import body, functions


def check_watched(module: ir.Module, pass_name: str) -> None:
    """Raises PassError for numbers of no result: a change of that memory would go unseen."""
    found = functions(module)
    for name, function_op in found.items():
        if name == "joint":
            owns = _owns(function_op)
            _check(function_op, owns, len(owns), pass_name)
        elif is_border(function_op):
            forward = found[referred(function_op, FORWARD)]
            _check(function_op, _owns(forward), len(function_op.type.results), pass_name)


def _owns(function_op: func.FuncOp) -> list[ir.Operation]:
    return [op for op in body(function_op) if isinstance(op.opview, OwnOp)]


def _check(function_op: func.FuncOp, owns: list[ir.Operation], count: int, pass_name: str) -> None:
    declared = function_op.attributes["arg_attrs"] if "arg_attrs" in function_op.attributes else []  # noqa: SIM401
    stated = [(function_op.operation, ir.DictAttr(each)) for each in declared]
    for op, facts in [*stated, *((op, op.attributes) for op in owns)]:
        if WATCHED not in facts:
            continue
        numbers = facts[WATCHED]
        if not isinstance(numbers, ir.DenseI64ArrayAttr) or any(not 0 <= each < count for each in numbers):
            raise fail(op, pass_name, f"expects '{WATCHED}' to number some of {count} owned results, got {numbers}")
