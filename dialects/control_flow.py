"""The IR's branches and loops: host calls whose attributes name the functions that they may run.

`torch.operator "torch.dovetail.cond"(%predicate, %operands...)` runs `dovetail.then` or `dovetail.else` on the
operands. `torch.operator "torch.dovetail.while_loop"(%carried..., %others...)` runs `dovetail.body` on all operands,
its results being the next carried values, as long as `dovetail.condition` of them holds. Both are library calls
(`calls.is_extern`), so nothing merges, drops or repeats them. The functions take and return values; they are private,
with `dovetail.subgraph`. See docs/decisions/0011-control-flow-calls-private-functions.md.
"""

from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import BODY, CONDITION, ELSE, SUBGRAPH, THEN
from dovetail.dialects.calls import extern, referred, symbol

COND, WHILE_LOOP = "dovetail.cond", "dovetail.while_loop"
ROLES = {COND: (THEN, ELSE), WHILE_LOOP: (CONDITION, BODY)}
"""The attributes that name each op's functions."""

_REASONS = {COND: "control flow: the host takes the branch", WHILE_LOOP: "control flow: the host runs the loop"}


def control_flow(
    name: str, functions: Sequence[str], operands: Sequence[ir.Value], results: Sequence[ir.Type]
) -> ir.Operation:
    """Builds the call `name` (`COND` or `WHILE_LOOP`) with the symbols of its functions, in the order of `ROLES`."""
    op = extern(name, _REASONS[name], operands, results)
    for role, function in zip(ROLES[name], functions, strict=True):
        op.attributes[role] = ir.FlatSymbolRefAttr.get(function)
    return op


def control_flow_name(op: ir.Operation) -> str | None:
    """`COND` or `WHILE_LOOP`, None for any other op."""
    if op.name != "torch.operator":
        return None
    name = ir.StringAttr(op.attributes["name"]).value.removeprefix("torch.")
    return name if name in ROLES else None


def is_subgraph(op: ir.OpView) -> bool:
    """Whether `op` is a function that only control flow runs."""
    return isinstance(op, func.FuncOp) and SUBGRAPH in op.attributes


def called_subgraphs(op: ir.Operation) -> tuple[str, ...]:
    """The symbols of the functions that a control-flow op runs, () for any other op."""
    name = control_flow_name(op)
    return tuple(referred(op, role) for role in ROLES[name]) if name else ()


def subgraphs(module: ir.Module) -> dict[str, func.FuncOp]:
    """The functions that control flow runs, by symbol, each after those that it runs itself.

    A function that runs itself comes nowhere: `verify-level` reports it.
    """
    found = {symbol(op): op for op in module.body.operations if is_subgraph(op)}
    ordered: dict[str, func.FuncOp] = {}
    while len(ordered) < len(found):
        ready = [name for name, op in found.items() if name not in ordered and _callees(op) <= set(ordered)]
        if not ready:
            return ordered
        ordered |= {name: found[name] for name in ready}
    return ordered


def _callees(function_op: func.FuncOp) -> set[str]:
    return {name for op in _operations(function_op) for name in called_subgraphs(op)}


def _operations(function_op: func.FuncOp) -> Iterator[ir.Operation]:
    return (op.operation for block in function_op.regions[0].blocks for op in block.operations)
