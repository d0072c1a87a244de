"""How the operands of opaque ops lie in memory in the eager run, and which ops of the traced graph these are.

Tracing decomposes ops into others, whose results may lie otherwise than those of eager's kernels; so what tracing says
of strides holds where the run says nothing: in the backward.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import torch
from torch._prims_common import make_contiguous_strides_for

from dovetail.dialects.statements.operand_strides import Stated
from dovetail.dialects.torch_facts.ops import op_name, row_of_func, row_of_name
from dovetail.frontend.dynamo.graph import graphs_in
from dovetail.frontend.dynamo.open_sizes import known


class Caller(NamedTuple):
    """A node of Dynamo's graphs, as `from_node` of a traced one names it, and an op that it calls."""

    graph: int
    node: str
    op: str

    @classmethod
    def of(cls, node: torch.fx.Node, op: str) -> "Caller":
        """`node` as a caller of `op`."""
        return cls(id(node.graph), node.name, op)


class OperandLayouts(defaultdict[Caller, list[tuple[Stated, ...]]]):
    """By caller, one entry for each call: what each argument of the schema is."""

    def __init__(self):
        super().__init__(list)

    def add(self, other: "OperandLayouts") -> None:
        """Adds the calls of `other`."""
        for caller, calls in other.items():
            self[caller] += calls


def call_layout(func: object, given: Mapping[str, object]) -> tuple[str, tuple[Stated, ...]] | None:
    """The name of the op `func`, and the strides of its arguments `given` by name; None if it can't tell them."""
    if not isinstance(func, torch._ops.OpOverload) or not row_of_func(func).sees_strides:
        return None
    if func is torch.ops.aten.bernoulli.p and isinstance(value := given.get("self"), torch.Tensor):
        # Row by row, however the operand lies; tracing makes it of `bernoulli_` too, which goes along memory.
        rows = tuple(map(known, make_contiguous_strides_for(value.shape)))
        return op_name(func), (rows, *(None for _ in func._schema.arguments[1:]))
    return op_name(func), tuple(strides_of(given.get(argument.name)) for argument in func._schema.arguments)


def eager_operands(graph: torch.fx.Graph, seen: OperandLayouts) -> dict[torch.fx.Node, tuple[Stated, ...]]:
    """For traced nodes the strides that the eager run had `seen`, where the two match call by call."""
    traced: dict[Caller, list[torch.fx.Node]] = defaultdict(list)
    for node in _calls(graph):
        origin, op = node.meta.get("from_node"), called_op(node)
        if origin and op is not None and row_of_func(op).sees_strides:
            traced[Caller(origin[-1].graph_id, origin[-1].name, op_name(op))].append(node)
    found: dict[torch.fx.Node, tuple[Stated, ...]] = {}
    for caller, nodes in traced.items():
        calls = seen.get(caller) or seen.get(caller._replace(op=_in_place(caller.op)), [])
        if len(calls) == len(nodes):
            found |= {node: call for node, call in zip(nodes, calls, strict=True) if _may_lie_so(node, call)}
    return found


def _may_lie_so(node: torch.fx.Node, call: tuple[Stated, ...]) -> bool:
    """Whether operands have as many dimensions as in eager's call; in the parts of an LSTM, states have more."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return True  # other arguments stand before the op's
    pairs = zip(map(strides_of, node.args), call, strict=False)
    return all(
        len(traced) == len(eager) for traced, eager in pairs if isinstance(traced, tuple) and isinstance(eager, tuple)
    )


def _calls(graph: torch.fx.Graph) -> Iterator[torch.fx.Node]:
    """The calls in `graph` and in those that its control flow runs."""
    assert graph.owning_module is not None
    for module in graphs_in(graph.owning_module):
        yield from (node for node in module.graph.nodes if node.op == "call_function")


def called_op(node: torch.fx.Node) -> torch._ops.OpOverload | None:
    """The op that a traced node calls, itself or through a higher-order operator for effects; None for others."""
    called = node.args[:2] if isinstance(node.target, torch._ops.HigherOrderOperator) else (node.target,)
    return next((function for function in called if isinstance(function, torch._ops.OpOverload)), None)


def _in_place(name: str) -> str:
    """The op of eager's run that tracing makes into ATen's `name`, which gives a value; it takes the same arguments."""
    namespace, op, overload = name.split(".")
    return row_of_name(name).drawn_by or f"aten.{op}_.{overload}" if namespace == "aten" else name


def strides_of(argument: object) -> Stated:
    """The strides of a tensor or of each in a list, in elements; None for what is neither."""
    if isinstance(argument, list | tuple):
        found = tuple(map(strides_of, argument))
        return None if all(layout is None for layout in found) else found
    value = argument.meta.get("val") if isinstance(argument, torch.fx.Node) else argument
    return tuple(map(known, value.stride())) if isinstance(value, torch.Tensor) else None
