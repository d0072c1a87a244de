"""How operands of opaque ops in the backward lie, which may hang on how the caller's gradients do.

What strides eager gives such an operand, a trace of eager's backward tells: one without decompositions, whose pieces
may lie otherwise than what eager's kernels give. Calls of one op are in the same order in both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch.fx.experimental.symbolic_shapes import guard_or_true

from dovetail.dialects.by_key import by_key
from dovetail.dialects.reachable import reachable
from dovetail.dialects.statements.operand_strides import Followed, Stated
from dovetail.dialects.torch_facts.ops import op_name, row_of_name
from dovetail.frontend.observe.bound_arguments import bound, schema
from dovetail.frontend.observe.operand_layouts import called_op, strides_of
from dovetail.frontend.records import BackwardLayouts


@dataclass(frozen=True)
class TracedGraph:
    """A traced graph, and the placeholders of its tangents by the number of the tensor that leaves the call."""

    graph: torch.fx.Graph
    tangents: Mapping[int, torch.fx.Node]


@dataclass
class _Telling:
    """What a trace tells of operands; `results` are the nodes that some lie as."""

    trace: TracedGraph
    results: dict[torch.fx.Node, int] = field(default_factory=dict)

    def __post_init__(self):
        # One number has one layout.
        self.tangents = {
            position: node
            for position, node in self.trace.tangents.items()
            if guard_or_true(node.meta["val"].numel() > 1)
        }
        self.depending = reachable(self.tangents.values(), lambda node: node.users)

    def calls(self) -> dict[str, list[torch.fx.Node]]:
        """The calls of opaque ops that depend on tangents, by the op."""
        called = ((called_op(node), node) for node in self.trace.graph.nodes if node in self.depending)
        named = ((op_name(op), node) for op, node in called if op is not None)
        return by_key((name, node) for name, node in named if row_of_name(name).sees_strides)

    def stated(self, node: torch.fx.Node) -> tuple[Stated, ...]:
        """How the operands of a call lie, in the order of its op's schema."""
        op = called_op(node)
        # Before the operands of a higher-order operator's node stand a token and the op, or the op alone.
        first = node.args.index(op) + 1 if op in node.args else 0
        given = bound(op, node.args[first:], node.kwargs)
        return tuple(self._lies(given.get(argument.name)) for argument in schema(op))

    def _lies(self, argument: object) -> Stated:
        if isinstance(argument, list | tuple):
            found = tuple(map(self._lies, argument))
            return None if all(layout is None for layout in found) else found
        is_tensor = isinstance(argument, torch.fx.Node) and isinstance(argument.meta.get("val"), torch.Tensor)
        if is_tensor and argument in self.depending:
            return Followed(self.results.setdefault(argument, len(self.results)))
        return strides_of(argument)


def backward_layouts(
    joint: TracedGraph, in_eager: Callable[[], TracedGraph]
) -> tuple[dict[torch.fx.Node, tuple[Stated, ...]], BackwardLayouts | None]:
    """For nodes of `joint` how their operands lie, and what tells those that hang on tangents.

    `in_eager` traces the same again, without decompositions; it is asked only if something in the backward is opaque.
    """
    calls = _Telling(joint).calls()
    if not calls:
        return {}, None
    telling = _Telling(in_eager())
    told = telling.calls()
    if any(len(told.get(name, ())) != len(nodes) for name, nodes in calls.items()):
        telling, told = _Telling(joint), calls
    stated = {
        node: telling.stated(twin)
        for name, nodes in calls.items()
        for node, twin in zip(nodes, told[name], strict=True)
    }
    if not telling.results:
        return stated, None
    return stated, BackwardLayouts(telling.trace.graph, telling.tangents, tuple(telling.results))
