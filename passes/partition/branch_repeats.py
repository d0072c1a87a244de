"""What the backward of a branch computes again, and what of it is worth handing over instead."""

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.dialects.attributes import PINNED
from dovetail.dialects.building.cloning import attributes_key
from dovetail.dialects.reading import body
from dovetail.dialects.statements.calls import is_extern
from dovetail.dialects.statements.recompute import is_pinned, pin
from dovetail.passes.partition.choose_saved import save_costs
from dovetail.passes.partition.joint_graph import JointGraph
from dovetail.passes.partition.min_cut import RecomputeNetwork
from dovetail.passes.partition.recompute_price import recompute_prices
from dovetail.passes.partition.saved_memory import SavedMemory


@dataclass(frozen=True)
class Pair:
    """A value of the forward's branch, and the equal one of its backward's."""

    forward: ir.Value
    backward: ir.Value


def worth_saving(forward: func.FuncOp, backward: func.FuncOp, same: dict[ir.Value, ir.Value]) -> list[Pair]:
    """The values that spare `backward`, if it gets them from `forward`, all work that both do.

    `same` maps arguments of `backward` to those of `forward` that they are equal to. They are the cheapest cut: the
    fewest bytes from which cheap ops give the rest.
    """
    repeats = _repeats(forward, backward, same)
    graph = JointGraph(backward)
    again = {index for index, node in enumerate(graph.nodes) if any(value in repeats for value in node.op.results)}
    used = (value for index, node in enumerate(graph.nodes) if index not in again for value in node.operands)
    repeated = {index for index in again if not graph.nodes[index].is_constant}
    needed = [value for value in dict.fromkeys(used) if graph.producers[value] in repeated]
    prices = [None if price else price for price in recompute_prices(graph, again)]
    cut = RecomputeNetwork(graph, needed, prices).cut(save_costs(graph, SavedMemory(graph)), prices)
    return [Pair(repeats[graph.values[value]], graph.values[value]) for value in cut]


def _repeats(forward: func.FuncOp, backward: func.FuncOp, same: dict[ir.Value, ir.Value]) -> dict[ir.Value, ir.Value]:
    """The values of `backward` that `forward` has too: the same op on the same values, effects apart."""
    made = {_key(op, list(op.operands)): op for op in reversed(body(forward)) if _is_value(op)}
    found = dict(same)
    for op in body(backward):
        operands = [found[value] for value in op.operands if value in found]
        first = made.get(_key(op, operands)) if _is_value(op) and len(operands) == len(op.operands) else None
        if first is not None:
            if is_pinned(op):
                pin(first)
            found.update(zip(op.results, first.results, strict=True))
    return found


def _is_value(op: ir.Operation) -> bool:
    return op.name.startswith("torch.") and not is_extern(op)


def _key(op: ir.Operation, operands: list[ir.Value]) -> tuple:
    return op.name, tuple(operands), attributes_key(op, PINNED), tuple(result.type for result in op.results)
