"""The IR's branches and loops: host calls whose attributes name the functions that they may run.

`torch.operator "torch.dovetail.cond"(%predicate, %operands...)` runs `dovetail.then` or `dovetail.else` on the
operands. `torch.operator "torch.dovetail.while_loop"(%carried..., %others...)` runs `dovetail.body` on all operands,
its results being the next carried values, as long as `dovetail.condition` of them holds. Both are library calls
(`calls.is_extern`), so nothing merges, drops or repeats them. The functions take and return values; they are private,
of role "subgraph". See docs/decisions/0011-control-flow-calls-private-functions.md.
"""

from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BODY, CONDITION, ELSE, THEN
from dovetail.dialects.reading import Module, Role, body, referred
from dovetail.dialects.statements.calls import extern

COND, WHILE_LOOP = "dovetail.cond", "dovetail.while_loop"
PARTS = {COND: (THEN, ELSE), WHILE_LOOP: (CONDITION, BODY)}
"""The attributes that name each op's functions."""

_REASONS = {COND: "control flow: the host takes the branch", WHILE_LOOP: "control flow: the host runs the loop"}


def control_flow(
    name: str, functions: Sequence[str], operands: Sequence[ir.Value], results: Sequence[ir.Type]
) -> ir.Operation:
    """Builds the call `name` (`COND` or `WHILE_LOOP`) with the symbols of its functions, in the order of `PARTS`."""
    op = extern(name, _REASONS[name], operands, results)
    for part, function in zip(PARTS[name], functions, strict=True):
        op.attributes[part] = ir.FlatSymbolRefAttr.get(function)
    return op


def control_flow_name(op: ir.Operation) -> str | None:
    """`COND` or `WHILE_LOOP`, None for any other op."""
    if op.name != "torch.operator":
        return None
    name = ir.StringAttr(op.attributes["name"]).value.removeprefix("torch.")
    return name if name in PARTS else None


def called_subgraphs(op: ir.Operation) -> tuple[str, ...]:
    """The symbols of the functions that a control-flow op runs, () for any other op."""
    name = control_flow_name(op)
    return tuple(referred(op, part) for part in PARTS[name]) if name else ()


def subgraphs(module: ir.Module) -> dict[str, func.FuncOp]:
    """The functions that control flow runs, by symbol, each after those that it runs itself.

    A function that runs itself comes nowhere: `verify-level` reports it.
    """
    found = Module(module).of(Role.SUBGRAPH)
    callees = {name: {callee for op in body(found[name]) for callee in called_subgraphs(op)} for name in found}
    ordered: dict[str, func.FuncOp] = {}
    while ready := [name for name in found if name not in ordered and callees[name] <= ordered.keys()]:
        ordered |= {name: found[name] for name in ready}
    return ordered
