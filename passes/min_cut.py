"""Which values to save for the backward: a minimum cut between what the forward has and what the backward needs.

The classic rematerialisation network (Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost"; as a minimum
cut in PyTorch's AOTAutograd): every value is an edge whose capacity is its size in bytes, so the cheapest cut is the
fewest bytes that let the backward recompute all else. The cut itself is networkx's.
"""

from collections.abc import Callable, Iterable

import networkx
from torch_mlir import ir

from dovetail.dialects.calls import is_extern
from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.recompute import is_recomputed, is_saved
from dovetail.dialects.torch_ops import Kind, kind
from dovetail.dialects.torch_types import tensor_info
from dovetail.passes.rewriting import is_view, operand_ops

RECOMPUTABLE = {Kind.CONSTANT, Kind.POINTWISE, Kind.MOVEMENT, Kind.CREATION}


def saved_values(
    needed: Iterable[ir.Value],
    is_free: Callable[[ir.Value], bool],
    is_copied: Callable[[ir.Value], bool] = lambda _: False,
) -> list[ir.Value]:
    """Returns the values to save so that every one of `needed` can be had in the backward.

    `needed` are values of the forward that the backward uses. `is_free` says which cost nothing to save, since they
    live on anyway, `is_copied` which must be copied for it. Values that an op with effects, a library kernel or a
    reduction computes are never recomputed, unless the user's checkpointing says so: `dovetail.recompute` comes first,
    but for effects.
    """
    network = networkx.DiGraph()
    seen: set[ir.Operation] = set()
    numbers: dict[ir.Value, int] = {}
    values: list[ir.Value] = []

    def number(value: ir.Value) -> int:
        if value not in numbers:
            numbers[value] = len(values)
            values.append(value)
            network.add_edge((numbers[value], "in"), (numbers[value], "out"), capacity=_cost(value, is_free, is_copied))
        return numbers[value]

    pending: list[ir.Operation] = []
    for value in needed:
        network.add_edge((number(value), "out"), "sink")
        pending.append(value.owner.operation)
    while pending:
        op = pending.pop()
        if op in seen:
            continue
        seen.add(op)
        is_source = not can_recompute(op)
        for result in op.results:
            if is_source:
                network.add_edge("source", (number(result), "in"))
            for operand in () if is_source else op.operands:
                network.add_edge((number(operand), "out"), (number(result), "in"))
        pending.extend(() if is_source else operand_ops(op))
    if "source" not in network or "sink" not in network:
        return []
    _, (reachable, _) = networkx.minimum_cut(network, "source", "sink")
    return [
        value for value in values if (numbers[value], "in") in reachable and (numbers[value], "out") not in reachable
    ]


def can_recompute(op: ir.Operation) -> bool:
    """Whether the backward may compute the results of `op` anew: with the same numbers, and for little."""
    if isinstance(op.opview, ReadOp) or is_extern(op):
        return False
    return is_view(op) or is_recomputed(op) or (kind(op) in RECOMPUTABLE and not is_saved(op))


def _cost(value: ir.Value, is_free: Callable[[ir.Value], bool], is_copied: Callable[[ir.Value], bool]) -> float:
    """Scaled bytes, whole since rounding would blur the cut; infinite for what is never saved.

    Free values cost a trifle, so that fewer of them are saved; so do those that the user wants saved.
    """
    op = value.owner.operation
    info = tensor_info(value.type)
    is_forbidden = not is_extern(op) and (kind(op) is Kind.CONSTANT or is_view(op) or is_recomputed(op))
    if is_forbidden or info is None:
        return float("inf")
    if is_free(value) or is_saved(op):
        return 1
    return 1024 * (info.nbytes + 1) * (2 if is_copied(value) else 1)
