"""What `verify-level` asks of what eager's backward would do: it is told of owned results, by number."""

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import FORWARD, FREES, REACHED, REREAD, WATCHED
from dovetail.dialects.dovetail import OwnOp
from dovetail.dialects.reading import Module, Role, argument_facts, of_class, referred
from dovetail.passes.base import fail


def check_backward_facts(module: Module) -> None:
    """Raises PassError for numbers of no result: a change of memory would go unseen, or a gradient."""
    for name, joint in module.of(Role.JOINT).items():
        owns = of_class(module.bodies[name], OwnOp)
        _check(joint, owns, len(owns))
    for border in module.borders.values():
        owns = of_class(module.bodies[referred(border, FORWARD)], OwnOp)
        _check(border, owns, len(border.type.results))


def _check(function_op: func.FuncOp, owns: list[ir.Operation], count: int) -> None:
    stated = [(function_op.operation, each) for each in argument_facts(function_op)]
    for op, facts in [*stated, *((op, op.attributes) for op in owns)]:
        for name in (WATCHED, REREAD, REACHED):
            numbers = facts[name] if name in facts else ir.DenseI64ArrayAttr.get([])
            if not isinstance(numbers, ir.DenseI64ArrayAttr) or any(not 0 <= number < count for number in numbers):
                raise fail(op, f"expects '{name}' to number some of {count} owned results, got {numbers}")
        if FREES in facts and not isinstance(facts[FREES], ir.DenseI64ArrayAttr):
            raise fail(op, f"expects '{FREES}' to number groups of saved values, got {facts[FREES]}")
