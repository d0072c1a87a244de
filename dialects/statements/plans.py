"""Launch plans in a module: functions that say what a region launches, beside the region that they run."""

import hashlib

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import CODE, PLAN
from dovetail.dialects.reading import Module, Role, attribute, referred, symbol


def plans(module: ir.Module) -> dict[str, func.FuncOp]:
    """The plans of `module`, by the symbol of their region; raises ValueError for one that is not of a plan's form."""
    found: dict[str, func.FuncOp] = {}
    for op in Module(module).of(Role.PLAN).values():
        if op.is_external or CODE not in op.attributes or not isinstance(attribute(op, PLAN), ir.FlatSymbolRefAttr):
            raise ValueError(f"expected a plan with a body, of one region and with its code, got '@{symbol(op)}'")
        if referred(op, PLAN) in found:
            raise ValueError(f"'@{symbol(op)}' is a second plan for '@{referred(op, PLAN)}'")
        found[referred(op, PLAN)] = op
    return found


def code_of(plan: func.FuncOp) -> str:
    """The digest of the plan's code; raises ValueError if it states none."""
    return ir.StringAttr(plan.attributes[CODE]).value


def digest(code: bytes) -> str:
    """What a plan calls `code`."""
    return hashlib.sha256(code).hexdigest()


def check_code(plan: func.FuncOp, code: bytes) -> None:
    """Raises ValueError if `code` is not what `plan` names."""
    if digest(code) != code_of(plan):
        raise ValueError(f"region '{referred(plan, PLAN)}': the plan is for code {code_of(plan)}, got {digest(code)}")
