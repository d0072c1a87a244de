"""A traced graph in records: each of its inputs and outputs, tied to the fact that PyTorch states of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import torch
from torch._functorch._aot_autograd import descriptors as aot

from dovetail.errors import UnsupportedError
from dovetail.frontend.dynamo.open_sizes import is_open_value, known
from dovetail.frontend.observe.alias_groups import AliasGroup, neighbours
from dovetail.frontend.observe.observations import Observations
from dovetail.frontend.observe.operand_layouts import eager_operands
from dovetail.frontend.observe.run_facts import EagerRun
from dovetail.frontend.records import Capture, CapturedArgument, Owned
from dovetail.frontend.trace.backward_layouts import TracedGraph, backward_layouts


@dataclass(frozen=True)
class _Ends:
    """The nodes at which a traced graph begins and ends.

    Attributes:
        arguments: by the number of the argument; so are `gradients`.
        tangents: by the position of a tensor among those that leave; so are `returned`.
    """

    arguments: dict[int, torch.fx.Node] = field(default_factory=dict)
    tangents: dict[int, torch.fx.Node] = field(default_factory=dict)
    returned: dict[int, torch.fx.Node] = field(default_factory=dict)
    gradients: dict[int, torch.fx.Node] = field(default_factory=dict)


def _ends(graph: torch.fx.Graph) -> _Ends:
    """Raises UnsupportedError for an input or an output of another kind."""
    ends = _Ends()
    for node in graph.find_nodes(op="placeholder"):
        match node.meta["desc"]:
            case aot.PlainAOTInput(idx=index):
                ends.arguments[index] = node
            case aot.TangentAOTInput(output=aot.PlainAOTOutput(idx=index)):
                ends.tangents[index] = node
            case aot.ForwardTokenAOTInput() | aot.BackwardTokenAOTInput():
                continue  # library calls keep their order without
            case other:
                raise UnsupportedError(f"graph input {node.name}: {other} is not supported yet")
    output = graph.output_node()
    outputs = cast(Sequence[torch.fx.Node], output.args[0])
    for descriptor, node in zip(output.meta["desc"], outputs, strict=True):
        match descriptor:
            case aot.PlainAOTOutput(idx=index):
                ends.returned[index] = node
            case aot.GradAOTOutput(grad_of=aot.PlainAOTInput(idx=index)):
                ends.gradients[index] = node
            case None | aot.ForwardTokenAOTOutput() | aot.BackwardTokenAOTOutput():
                continue
            case other:
                raise UnsupportedError(f"graph output {node}: {other} is not supported yet")
    return ends


def describe(
    graph: torch.fx.Graph,
    names: list[str],
    values: list,
    static: set[int],
    run: EagerRun,
    seen: Observations,
    groups: tuple[AliasGroup, ...],
    in_eager: Callable[[], torch.fx.Graph],
) -> Capture:
    """What `graph` is: `names` and `values` are the arguments', those in `static` outlive the call.

    `run` and what was `seen` in it are eager's. `in_eager` traces the graph again, its ops as eager runs them.
    """
    ends = _ends(graph)
    owned = tuple(
        Owned(
            ends.returned[index],
            own.layout,
            own.requires_grad,
            ends.tangents.get(index),
            seen.backward.owned[index],
            own.base,
        )
        for index, own in enumerate(seen.owned)
    )
    inputs = tuple(_input(index, name, values[index], index in static, seen, ends) for index, name in enumerate(names))

    def again() -> TracedGraph:
        traced = in_eager()
        return TracedGraph(traced, _ends(traced).tangents)

    operand_strides, layouts = backward_layouts(TracedGraph(graph, ends.tangents), again)
    return Capture(
        graph,
        inputs,
        owned,
        seen.results,
        tuple(ends.tangents.values()),
        groups,
        run.fixes_offsets,
        seen.grad_mode,
        next(iter(run.once), None),
        seen.backward.written_last,
        run.convention,
        seen.backward.frees,
        neighbours(values),
        eager_operands(graph, run.operands) | operand_strides,
        layouts,
    )


def _input(index: int, name: str, value, is_static: bool, seen: Observations, ends: _Ends) -> CapturedArgument:
    position, is_tensor = seen.written.get(index), isinstance(value, torch.Tensor)
    return CapturedArgument(
        name=name,
        node=ends.arguments[index],
        requires_grad=is_tensor and value.requires_grad,
        static=is_static,
        mutation=seen.mutations[index],
        position=position,
        mutated_value=None if position is None else ends.returned.get(position),
        tangent=None if position is None else ends.tangents.get(position),
        layout=seen.layouts[index],
        touches=seen.touches[index],
        gradient=ends.gradients.get(index),
        number=None if is_tensor or is_open_value(value) else known(value),
        symbol=value if is_open_value(value) else None,
        needed=seen.backward.arguments[index],
        reached=seen.backward.reached[index],
    )
