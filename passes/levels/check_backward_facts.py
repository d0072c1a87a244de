"""What `verify-level` asks of what eager's backward would do: it is told of owned results, by number."""

from collections.abc import Mapping, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import FORWARD, FREES, REACHED, WATCHED
from dovetail.dialects.calls import argument_facts, is_border, referred
from dovetail.dialects.dovetail import OwnOp
from dovetail.passes.base import fail
from dovetail.passes.rewriting.cloning import of_class


def check_backward_facts(
    functions: Mapping[str, func.FuncOp], bodies: Mapping[str, Sequence[ir.Operation]], pass_name: str
) -> None:
    """Raises PassError for numbers of no result: a change of memory would go unseen, or a gradient.

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
    stated = [(function_op.operation, each) for each in argument_facts(function_op)]
    for op, facts in [*stated, *((op, op.attributes) for op in owns)]:
        for name in (WATCHED, REACHED):
            numbers = facts[name] if name in facts else ir.DenseI64ArrayAttr.get([])
            if not isinstance(numbers, ir.DenseI64ArrayAttr) or any(not 0 <= each < count for each in numbers):
                raise fail(op, pass_name, f"expects '{name}' to number some of {count} owned results, got {numbers}")
        if FREES in facts and not isinstance(facts[FREES], ir.DenseI64ArrayAttr):
            raise fail(op, pass_name, f"expects '{FREES}' to number groups of saved values, got {facts[FREES]}")
