"""What `verify-level` asks of `dovetail.watched`: it numbers owned results, in order."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.calls import FORWARD, WATCHED, is_border, referred
from dovetail.dialects.dovetail import OwnOp
from dovetail.passes.base import fail
from dovetail.passes.rewriting import of_class


def check_watched(
    functions: Mapping[str, func.FuncOp], bodies: Mapping[str, Sequence[ir.Operation]], pass_name: str
) -> None:
    """Raises PassError for numbers of no result: a change of that memory would go unseen.

    `bodies` are the operations of each function, by symbol name.
    """
    for name, function_op in functions.items():
        if name == "joint":
            owns = of_class(bodies[name], OwnOp)
            _check(function_op, owns, len(owns), pass_name)
        elif is_border(function_op):
            owns = of_class(bodies[referred(function_op, FORWARD)], OwnOp)
            _check(function_op, owns, len(function_op.type.results), pass_name)


def _check(function_op: func.FuncOp, owns: list[ir.Operation], count: int, pass_name: str) -> None:
    declared = function_op.attributes["arg_attrs"] if "arg_attrs" in function_op.attributes else []  # noqa: SIM401
    stated = [(function_op.operation, ir.DictAttr(each)) for each in declared]
    for op, facts in [*stated, *((op, op.attributes) for op in owns)]:
        if WATCHED not in facts:
            continue
        numbers = facts[WATCHED]
        if not isinstance(numbers, ir.DenseI64ArrayAttr) or any(not 0 <= each < count for each in numbers):
            raise fail(op, pass_name, f"expects '{WATCHED}' to number some of {count} owned results, got {numbers}")
