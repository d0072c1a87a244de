"""Graphs that update many tensors, each for itself and mostly in the same way: what is alike is captured once.

An optimizer's graph is hundreds of nodes for each of a model's layers, and tracing takes a millisecond or two for each.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch.utils._pytree import tree_leaves

from dovetail.dialects.reachable import connected, reachable
from dovetail.dialects.statements.wrapped import Convention
from dovetail.frontend.dynamo.graph import static_inputs, with_graph
from dovetail.frontend.observe.alias_groups import alias_groups, neighbours
from dovetail.frontend.program_key.arguments import arguments_text
from dovetail.frontend.program_key.graph import nodes_text
from dovetail.frontend.program_key.unkeyed import Unkeyed
from dovetail.frontend.records import Capture, CapturedArgument

Node = torch.fx.Node


@dataclass(frozen=True)
class Strand:
    """`nodes` that have no tensor in common with others, and the positions of what they take, in the order of its use.

    Strands of equal `text` compute the same.
    """

    nodes: Sequence[Node]
    arguments: tuple[int, ...]
    text: str


@dataclass(frozen=True)
class AlikeStrands:
    """The strands of a graph that returns nothing, and of each the first one that is alike, by number."""

    gm: torch.fx.GraphModule
    strands: Sequence[Strand]
    models: Sequence[int]

    @cached_property
    def arguments(self) -> list[int]:
        """The positions of the arguments that `once` takes."""
        return sorted(index for number in set(self.models) for index in self.strands[number].arguments)

    def once(self) -> torch.fx.GraphModule:
        """The graph with one strand of each kind."""
        placeholders = self.gm.graph.find_nodes(op="placeholder")
        kept = {node for number in self.models for node in self.strands[number].nodes}
        kept |= {placeholders[index] for index in self.arguments}
        graph, made = torch.fx.Graph(), dict[Node, Node]()
        for node in self.gm.graph.nodes:
            if node in kept:
                made[node] = graph.node_copy(node, made.__getitem__)
        graph.output(())
        return with_graph(self.gm, graph)

    def whole(self, captured: Capture, names: Sequence[str]) -> Capture | None:
        """What the graph is, by what was `captured` of `once`; `names` are the arguments'. None if that can't tell."""
        if not _is_apart(captured):
            return None
        templates = dict(zip(self.arguments, captured.inputs, strict=True))
        like = {
            index: templates[model]
            for strand, number in zip(self.strands, self.models, strict=True)
            for index, model in zip(strand.arguments, self.strands[number].arguments, strict=True)
        }
        graph = torch.fx.Graph()
        placeholders = [graph.node_copy(like[index].node) for index in range(len(names))]
        values: dict[int, Node | None] = {}
        strides = {}
        for strand in self.strands:
            made = {like[index].node: placeholders[index] for index in strand.arguments}
            for node in _computing(captured, [like[index] for index in strand.arguments]):
                made[node] = graph.node_copy(node, made.__getitem__)
                if node in captured.operand_strides:
                    strides[made[node]] = captured.operand_strides[node]
            for index in strand.arguments:
                value = like[index].mutated_value
                values[index] = None if value is None else made[value]
        written = [index for index in range(len(names)) if like[index].position is not None]
        graph.output(tuple(values[index] for index in written))
        positions: Mapping[int, int] = {index: position for position, index in enumerate(written)}
        inputs = (
            replace(
                like[index],
                name=name,
                node=placeholders[index],
                position=positions.get(index),
                mutated_value=values[index],
            )
            for index, name in enumerate(names)
        )
        return replace(
            captured,
            graph=graph,
            inputs=tuple(inputs),
            convention=Convention(tuple(range(len(names))), ()),
            frees=tuple(captured.frees[like[index].position or 0] for index in written),
            operand_strides=strides,
        )


def alike_strands(gm: torch.fx.GraphModule, values: Sequence) -> AlikeStrands | None:
    """The strands of a call of `gm` on `values`; None where no two are alike, or more than their nodes ties them.

    Such are results, gradients, shared memory, and what acts on no tensor: modes, and random numbers in their order.
    """
    returned = tree_leaves(gm.graph.output_node().args, is_leaf=lambda each: each is None)
    if returned or torch.is_grad_enabled():
        return None
    placeholders = {node: index for index, node in enumerate(gm.graph.find_nodes(op="placeholder"))}
    nodes = [node for node in gm.graph.nodes if node.op != "output"]
    groups = connected(
        nodes, lambda node: (*node.all_input_nodes, *(user for user in node.users if user.op != "output"))
    )
    static = static_inputs(gm)
    try:
        strands = [_strand(group, placeholders, values, static) for group in groups]
    except Unkeyed:
        return None
    first: dict[str, int] = {}
    models = [first.setdefault(strand.text, number) for number, strand in enumerate(strands)]
    is_tied = any(not strand.arguments for strand in strands) or alias_groups(values) or neighbours(values)
    return None if is_tied or len(first) == len(strands) else AlikeStrands(gm, strands, models)


def _strand(
    group: Sequence[Node], placeholders: Mapping[Node, int], values: Sequence, static: Collection[int]
) -> Strand:
    nodes = [node for node in group if node not in placeholders]
    taken = (each for node in nodes for each in node.all_input_nodes)
    arguments = list(dict.fromkeys(each for each in (*taken, *group) if each in placeholders))
    indices = [placeholders[each] for each in arguments]
    numbers = {node: number for number, node in enumerate((*arguments, *nodes))}
    kinds = [index in static for index in indices]
    given = arguments_text([values[index] for index in indices])
    return Strand(nodes, tuple(indices), f"{nodes_text(nodes, numbers.__getitem__)}\n{kinds}\n{given}")


def _is_apart(captured: Capture) -> bool:
    """Whether nothing ties what was captured of one strand to another: all that leaves is in the arguments."""
    ties = (captured.owned, captured.results, captured.tangents, captured.groups, captured.neighbours)
    facts = (captured.grad_mode, captured.written_last, captured.layouts)
    calls = [node for node in captured.graph.nodes if node.op not in ("placeholder", "output")]
    return not any(ties) and all(fact is None for fact in facts) and all(map(_is_pure, calls))


def _is_pure(node: Node) -> bool:
    op = node.target
    if node.op != "call_function" or not isinstance(op, torch._ops.OpOverload):
        return False
    return torch.Tag.nondeterministic_seeded not in op.tags and not op._schema.is_mutable and bool(op._schema.returns)


def _computing(captured: Capture, arguments: Sequence[CapturedArgument]) -> list[Node]:
    """The nodes, in their order, that compute what is left in `arguments`."""
    values = [argument.mutated_value for argument in arguments if argument.mutated_value is not None]
    needed = reachable(values, lambda node: node.all_input_nodes)
    return [node for node in captured.graph.nodes if node in needed and node.op == "call_function"]
