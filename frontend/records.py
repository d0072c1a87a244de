"""What a capture says: the joint graph of one Dynamo graph, and everything about it that the user may observe."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class ViewStep:
    """One view function of a replay chain: `callee` such as "aten.slice.Tensor", and its arguments after the tensor."""

    callee: str
    args: tuple
    output_index: int = -1


@dataclass(frozen=True)
class Input:
    """One argument of the captured graph.

    `mode` says how autograd sees the mutation of its data, None where there is none; `mutated_value` is what the call
    leaves in it and `tangent` the placeholder of that value's gradient; `metadata_view` has the sizes and strides it
    ends with; `gradient` is what the backward computes for it. `number` is set where it is no tensor: the graph holds
    for that one only.
    """

    name: str
    node: torch.fx.Node
    requires_grad: bool
    static: bool
    mode: str | None
    mutated_value: torch.fx.Node | None
    metadata_view: torch.fx.Node | None
    gradient: torch.fx.Node | None
    tangent: torch.fx.Node | None
    number: int | float | bool | None = None


@dataclass(frozen=True)
class Output:
    """One result of the user's function, or a base that several results are views of.

    `kind` is "fresh", "input", "view_of_input", "view_of_base" or "view_of_output"; `base` indexes inputs, bases or
    outputs accordingly. `tangent` is the placeholder of its gradient, None where it is not differentiable by itself.
    `drops_history` says of a view that autograd does not follow it back to its base.
    """

    kind: str
    node: torch.fx.Node
    tangent: torch.fx.Node | None = None
    drops_history: bool = False
    base: int | None = None
    chain: tuple[ViewStep, ...] | None = None


@dataclass(frozen=True)
class Capture:
    """The joint (or inference) graph of one Dynamo graph, functionalized, with everything the user may observe.

    `tangents` are the placeholders that the backward starts from.
    """

    graph: torch.fx.Graph
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    bases: tuple[Output, ...]
    tangents: tuple[torch.fx.Node, ...]
