"""What lives on until the backward whatever is saved for it, since a second derivative would be computed from it.

`state-replay` will say so of the functions as they run. Here it decides what is worth saving: of as many bytes, what is
there anyway. That is a minimum cut, too, between the arguments and what the backward needs.
"""

from collections.abc import Container, Sequence
from enum import IntEnum

from dovetail.dialects.attributes import ONCE
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dovetail import OwnOp, ReadOp
from dovetail.dialects.sizes.expected import expected_bytes
from dovetail.dialects.statements.effects import Effect, effect, has_effect
from dovetail.dialects.torch_facts.ops import row
from dovetail.dialects.torch_facts.types import is_differentiable
from dovetail.passes.partition.halves import Halves
from dovetail.passes.partition.joint_graph import JointGraph, JointNode
from dovetail.passes.partition.min_cut import Cost, RecomputeNetwork
from dovetail.passes.partition.saved_memory import Fate, SavedMemory


def held_values(graph: JointGraph, halves: Halves, memory: SavedMemory, saved: Sequence[int]) -> set[int]:
    """The values that are held beside the `saved` ones, or in place of arguments, and that the backward may read.

    It may read what nobody else can write, or what eager's backward would mind a write to. A replay computes again what
    has no history of its own; where it can't run, nothing is held for it.
    """
    reads = {graph.nodes[index].results[0] for index in graph.of(ReadOp) if index not in halves.backward}
    owns = [graph.nodes[index] for index in graph.of(OwnOp)]
    handed_out = {node.operands[0] for node in owns if node.view.is_differentiable}
    there = {value for value in saved if value in reads or value in handed_out or not _is_differentiable(graph, value)}
    there |= {value for value in reads if memory.is_static(value)}
    if all(value in there or not _is_differentiable(graph, value) for value in reads) or _is_refused(graph, halves):
        return set()
    added = {value for value in reads if _is_differentiable(graph, value) and not memory.is_written(value)}
    sums = {value for value in _sums(graph, there, added) if memory.fate(value) is Fate.PRIVATE}
    prices: list[Cost] = [None] * len(graph.values)
    for value in there | reads | sums:
        prices[value] = 0 if value in there else _price(graph, memory, value)
    again: list[Cost] = [None if isinstance(node.view, ReadOp) else 0 for node in graph.nodes]
    held = set(RecomputeNetwork(graph, halves.needed, again).cut(prices, again)) - there
    if any(memory.is_written(value) for value in held & reads):
        return set()
    return {value for value in held if memory.fate(value) is not Fate.COPY}


def _price(graph: JointGraph, memory: SavedMemory, value: int) -> int:
    """Of as many bytes, first what takes no memory of its own, last what only a replay may read."""
    order = (Fate.CHECKED, Fate.PRIVATE, Fate.COPY)
    return 1 + order.index(memory.fate(value)) + 4 * expected_bytes([graph.values[value]])


def _is_refused(graph: JointGraph, halves: Halves) -> bool:
    """Whether a replay may be refused, but for what the call writes; random numbers of the forward are drawn again."""
    ops = [(index, node.op) for index, node in enumerate(graph.nodes) if node.is_extern and has_effect(node.op)]
    return ONCE in graph.joint.attributes or any(
        index in halves.backward or control_flow_name(op) or effect(op) is not Effect.DRAWS for index, op in ops
    )


class _Needs(IntEnum):
    """What the history of a value needs, besides what is there."""

    NOTHING = 0  # it is a constant
    VALUES_THERE = 1
    HISTORIES = 2  # of arguments
    VALUES = 3


def _sums(graph: JointGraph, there: Container[int], added: Container[int]) -> set[int]:
    """The values to which `added` arguments are, or what shows them elsewhere, and nothing else is done with these."""
    needs = [_Needs.VALUES] * len(graph.values)
    found: set[int] = set()
    for node in graph.nodes:
        level = _level(node, [needs[value] for value in node.operands])
        for value in node.results:
            needs[value] = _Needs.VALUES_THERE if value in there else _Needs.HISTORIES if value in added else level
        if level is _Needs.HISTORIES and not (node.is_view or isinstance(node.view, ReadOp)):
            found.update(node.results)
    return found


def _level(node: JointNode, operands: Sequence[_Needs]) -> _Needs:
    if isinstance(node.view, ReadOp):
        return _Needs.VALUES
    most = max(operands, default=_Needs.NOTHING)
    if node.is_extern or most is not _Needs.HISTORIES:
        return _Needs.VALUES if node.is_extern else most
    facts = row(node.op)
    is_scaled = facts.multiplies and len(operands) == 2 and _Needs.NOTHING in operands
    return most if is_scaled or facts.is_sum_of_operands else _Needs.VALUES


def _is_differentiable(graph: JointGraph, value: int) -> bool:
    return is_differentiable(graph.values[value].type)
