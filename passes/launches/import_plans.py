"""From level `regions` to `launches` and back: what a region launches, as functions beside it."""

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
from dovetail.dialects.reading import Module, Role, set_role, symbol
from dovetail.dialects.statements.plans import plans
from dovetail.passes.launches.plan_checks import import_checks
from dovetail.passes.launches.plan_numbers import import_numbers, read_number


def import_plans(module: ir.Module, found: Mapping[str, tuple[Mapping[str, Any], str]]) -> None:
    """Takes a module from level `regions` to `launches`.

    `found` has, by symbol, the regions that have a plan: what `backends/worker/host_program.py` read, and the digest
    of its code. The others run through IREE's runtime.
    """
    with module.context:
        for name, region in Module(module).regions.items():
            if name in found:
                _build_plan(region, *found[name])
        module.operation.attributes[LEVEL] = ir.StringAttr.get("launches")


def drop_plans(module: ir.Module) -> None:
    """Takes a module from level `launches` back to `regions`."""
    for plan in plans(module).values():
        plan.operation.erase()
    module.operation.attributes[LEVEL] = ir.StringAttr.get("regions", module.context)


def _build_plan(region: func.FuncOp, steps: Mapping[str, Any], code: str) -> None:
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
            _build_step(step, buffers, values)
        func.ReturnOp([])


def _build_step(step: Mapping[str, Any], buffers: list[ir.Value], values: list[ir.Value | None]) -> None:
    def span(index: int, *numbers: int | str) -> ir.Value:
        offset, length = (read_number(number, values) for number in numbers)
        return subspan(buffers[index], offset, length).buffer

    match step["op"]:
        case "dispatch":
            bindings = [span(*binding) for binding in step["bindings"]]
            threads, shared = step.get("workgroup_size", ()), step.get("shared_memory", 0)
            counts, words = ([read_number(each, values) for each in step[name]] for name in ("workgroups", "constants"))
            sets, waits = step.get("sets", 0), step.get("waits", False)
            made = dispatch(step["entry"], counts, words, bindings, threads, shared, sets, waits)
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
