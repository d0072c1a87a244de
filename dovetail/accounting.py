"""Counts for `dovetail.stats()`, read from the final IR of a program."""

from torch_mlir import ir

from dovetail.dialects.attributes import KEPT_APART, TILING
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.memory.memory_use import held_for_replays, saved_bytes
from dovetail.dialects.reading import Module, Role, role
from dovetail.dialects.sizes.expected import expected_infos
from dovetail.dialects.statements.calls import is_extern, is_fallback, reason
from dovetail.dialects.statements.devices import described
from dovetail.dialects.statements.regions import choice
from dovetail.dialects.torch_facts.ops import Kind, aten_name, kind, row
from dovetail.runtime.stats import Stats


def account(module: ir.Module, stats: Stats) -> None:
    """Adds what the program in `module` (level `regions`) consists of to `stats`."""
    stats.graphs += 1
    stats.devices[described(module)] += 1
    found = Module(module)
    stats.regions += len(found.regions)
    stats.kept_apart.update(
        choice(each, KEPT_APART) for each in found.regions.values() if KEPT_APART in each.attributes
    )
    for name, function_op in found.functions.items():
        if role(function_op) is Role.PLAN:
            tilings = (op.attributes[TILING] for op in found.bodies[name] if TILING in op.attributes)
            stats.kernels.update(ir.StringAttr(tiling).value for tiling in tilings)
        for op in found.bodies[name] if role(function_op) is not Role.LAYOUTS else ():
            placement = _placement(op, role(function_op) is Role.REGION)
            if placement is None:
                continue
            stats.ops[placement] += 1
            stats.flops[placement] += 0 if aten_name(op) is None else row(op).flops(op, expected_infos)
            if is_extern(op):
                stats.library_calls[(control_flow_name(op) or aten_name(op), _reason(op))] += 1
    stats.saved_bytes += sum(map(saved_bytes, found.of(Role.FORWARD).values()))
    stats.held_bytes += held_for_replays(found)


def _placement(op: ir.Operation, in_region: bool) -> str | None:
    """Where a torch op runs; None for what is no work of its own (constants, calls, reads)."""
    if is_extern(op):
        return "fallback" if is_fallback(op) else "library"
    if aten_name(op) is None:
        return None
    if kind(op) is Kind.VIEW:
        return "view"
    return "region" if in_region else None


def _reason(op: ir.Operation) -> str:
    """Why the library call `op` is one, as the counts show it."""
    return f"fallback: {reason(op)}" if is_fallback(op) else reason(op)
