"""Launch plans in a module: functions that say what a region launches, beside the region that they run."""

import hashlib
from collections.abc import Mapping
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import CODE, LEVEL, PLAN, TILING
from dovetail.dialects.dovetail import BarrierOp, CopyBufferOp
from dovetail.dialects.dovetail.ops.constant import constant
from dovetail.dialects.dovetail.ops.dispatch import dispatch
from dovetail.dialects.dovetail.ops.fill_buffer import fill_buffer
from dovetail.dialects.dovetail.ops.subspan import subspan
from dovetail.dialects.dovetail.ops.transient import transient
from dovetail.dialects.plan_checks import import_checks
from dovetail.dialects.plan_numbers import import_numbers, read_number
from dovetail.dialects.reading import Module, Role, attribute, referred, set_role, symbol


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


def import_plans(module: ir.Module, found: Mapping[str, tuple[Mapping[str, Any], str]]) -> None:
    """Takes a module from level `regions` to `launches`.

    `found` has, by symbol, the regions that have a plan: what `backends/worker/host_program.py` read, and the digest
    of its code. The others run through IREE's runtime.
    """
    with module.context:
        for name, region in Module(module).regions.items():
            if name in found:
                _import_plan(region, *found[name])
        module.operation.attributes[LEVEL] = ir.StringAttr.get("launches")


def drop_plans(module: ir.Module) -> None:
    """Takes a module from level `launches` back to `regions`."""
    for plan in plans(module).values():
        plan.operation.erase()
    module.operation.attributes[LEVEL] = ir.StringAttr.get("regions", module.context)


def _import_plan(region: func.FuncOp, steps: Mapping[str, Any], code: str) -> None:
    with region.location, ir.InsertionPoint.after(region):
        plan = func.FuncOp(f"{symbol(region)}_plan", region.type, visibility="private")
        set_role(plan, Role.PLAN)
        plan.attributes[PLAN] = ir.FlatSymbolRefAttr.get(symbol(region))
        plan.attributes[CODE] = ir.StringAttr.get(code)
        entry = plan.add_entry_block()
    with region.location, ir.InsertionPoint(entry):
        import_checks(region, entry.arguments)
        values = import_numbers(steps["values"], entry.arguments)
        transients = [transient(read_number(size, values)).memory for size in steps["transients"]]
        constants = [constant(bytes.fromhex(data)).memory for data in steps["constants"]]
        buffers = [*entry.arguments, *transients, *constants]
        for step in steps["steps"]:
            _import_step(step, buffers, values)
        func.ReturnOp([])


def _import_step(step: Mapping[str, Any], buffers: list[ir.Value], values: list[ir.Value | None]) -> None:
    def span(index: int, *numbers: int | str) -> ir.Value:
        offset, length = (read_number(number, values) for number in numbers)
        return subspan(buffers[index], offset, length).buffer

    match step["op"]:
        case "dispatch":
            bindings = [span(*binding) for binding in step["bindings"]]
            threads, shared = step.get("workgroup_size", ()), step.get("shared_memory", 0)
            counts, words = ([read_number(each, values) for each in step[name]] for name in ("workgroups", "constants"))
            made = dispatch(step["entry"], counts, words, bindings, threads, shared)
            if "tiling" in step:
                made.attributes[TILING] = ir.StringAttr.get(step["tiling"])
        case "copy":
            CopyBufferOp.build([span(*step["source"]), span(*step["target"])])
        case "fill":
            fill_buffer(span(*step["target"]), step["pattern"], step["bits"])
        case "barrier":
            BarrierOp.build()
        case other:
            raise ValueError(f"a plan has no step '{other}'")
