"""Arguments that live on until the backward whatever is saved, since a second derivative would be computed from them.

`state-replay` will say so of the functions as they run. Here it decides what is worth saving: of as many bytes, the
argument itself is there anyway.
"""

from collections.abc import Sequence

from dovetail.dialects.attributes import ONCE
from dovetail.dialects.control_flow import control_flow_name
from dovetail.dialects.dovetail import OwnOp, ReadOp
from dovetail.dialects.reachable import reachable
from dovetail.dialects.statements.effects import Effect, effect, has_effect
from dovetail.dialects.torch_facts.types import is_differentiable
from dovetail.passes.partition.halves import Halves
from dovetail.passes.partition.joint_graph import JointGraph
from dovetail.passes.partition.saved_memory import Fate, SavedMemory


def held_reads(graph: JointGraph, halves: Halves, memory: SavedMemory, saved: Sequence[int]) -> set[int]:
    """The values of arguments that are held beside the `saved` ones, and that the backward may read there.

    It may where eager's would mind a change, too. A replay computes again what has no history of its own; where it
    can't run, nothing is held for it.
    """
    if ONCE in graph.joint.attributes or _has_effects(graph, halves):
        return set()
    owns = [graph.nodes[index] for index in graph.of(OwnOp)]
    handed_out = {node.operands[0] for node in owns if node.view.is_differentiable}
    kept = {value for value in saved if value in handed_out or not is_differentiable(graph.values[value].type)}

    def behind(value: int) -> Sequence[int]:
        producer = graph.producers[value]
        return () if value in kept or producer is None else graph.nodes[producer].operands

    reads = {graph.nodes[index].results[0] for index in graph.of(ReadOp)}
    held = (reachable(halves.needed, behind) & reads).difference(saved)
    if any(memory.is_written(value) for value in held):
        return set()
    return {value for value in held if memory.fate(value) is Fate.CHECKED}


def _has_effects(graph: JointGraph, halves: Halves) -> bool:
    """Whether an op may keep a replay from running; random numbers are drawn again, but for the backward's own."""
    ops = [(index, node.op) for index, node in enumerate(graph.nodes) if node.is_extern and has_effect(node.op)]
    return any(index in halves.backward or control_flow_name(op) or effect(op) is not Effect.DRAWS for index, op in ops)
