"""What a capture says: the joint graph of one Dynamo graph, and everything about it that the user may observe."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch

from dovetail.dialects.statements.operand_strides import Stated
from dovetail.dialects.statements.wrapped import Convention
from dovetail.frontend.observe.alias_groups import AliasGroup


@dataclass(frozen=True)
class ViewStep:
    """One view function of a replay chain: `callee` such as "aten.slice.Tensor", and its arguments after the tensor.

    `size`, `stride` (in elements) and `dtype` are those of what it makes. `grad_mode` is autograd's mode in which the
    user called it, None for that of the whole call.
    """

    callee: str
    args: tuple
    size: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    output_index: int = -1
    grad_mode: bool | None = None

    def making(self, tensor: torch.Tensor) -> "ViewStep":
        """The same step, where it makes what looks like `tensor`."""
        return replace(self, size=tuple(tensor.size()), stride=tuple(tensor.stride()), dtype=tensor.dtype)


@dataclass(frozen=True)
class FinalLayout:
    """Size and strides (in elements) that a tensor ends with.

    `offset` is by how much its first element moved, `versions` by how much these changes alone moved the counter.
    """

    size: tuple[int, ...]
    stride: tuple[int, ...]
    offset: int = 0
    versions: int = 0


@dataclass(frozen=True)
class ArgumentWrite:
    """How one argument's memory is written: what autograd sees of it, and by how much the version counter moves.

    `mode` is "tracked", "no_grad" or "hidden"; `versions` is 0 for the last one only.
    """

    mode: str
    versions: int

    @property
    def is_tracked(self) -> bool:
        """Whether autograd follows it."""
        return self.mode == "tracked"


@dataclass(frozen=True)
class Result:
    """One value that the call returns.

    A tensor is argument `argument`, owned memory `owned` or another result `of`, seen through `chain`; the earlier
    result `same_as` is the very same object. Anything else is the constant `value`, or what the call reads in an owned
    tensor: a `number`, "int", "float" or "bool".
    """

    argument: int | None = None
    owned: int | None = None
    of: int | None = None
    chain: tuple[ViewStep, ...] = ()
    same_as: int | None = None
    value: int | float | bool | str | None = None
    number: str | None = None


class Needed(NamedTuple):
    """For which of the tensors that leave the call eager's backward needs memory, by number.

    For the gradients of those `watched`, it must be unchanged; for those `reread`, a checkpointed region is recomputed
    from it.
    """

    watched: tuple[int, ...]
    reread: tuple[int, ...]


@dataclass(frozen=True)
class CapturedArgument:
    """One argument of the captured graph.

    Attributes:
        mutation: None where its memory is not written; else `mutated_value` is what the call leaves in it, `position`
            that value's number among the tensors that leave the call, and `tangent` the placeholder of its gradient.
        layout: what its sizes and strides become, None where they stay.
        gradient: what the backward computes for it.
        touches: by how much its version counter moves besides.
        number: set where it is no tensor: the graph holds for that one only.
        symbol: set where it is a number that Dynamo leaves open.
        reached: from which of the tensors that leave a gradient flows to it, by number, None where it is not known.
    """

    name: str
    node: torch.fx.Node
    requires_grad: bool
    static: bool
    mutation: ArgumentWrite | None
    position: int | None
    mutated_value: torch.fx.Node | None
    tangent: torch.fx.Node | None
    layout: FinalLayout | None
    gradient: torch.fx.Node | None
    touches: int
    number: int | float | bool | None
    symbol: torch.SymInt | None
    needed: Needed
    reached: tuple[int, ...] | None

    @property
    def is_tensor(self) -> bool:
        return self.number is None and self.symbol is None


@dataclass(frozen=True)
class Owned:
    """Memory that the call makes and hands out, by itself or through views.

    `tangent` is the placeholder of its gradient, None where no argument's gradient depends on it; `base` are the sizes
    of what a custom autograd function has made it a view of.
    """

    node: torch.fx.Node
    layout: FinalLayout
    requires_grad: bool
    tangent: torch.fx.Node | None
    needed: Needed
    base: tuple[int, ...] | None


@dataclass(frozen=True)
class BackwardLayouts:
    """What tells how operands in the backward lie: `results`, nodes of `graph`. An operand names one by its number.

    `tangents` are the placeholders of the gradients, by the number of the tensor that leaves the call, on whose layouts
    this hangs. What else the nodes take lies as it was traced.
    """

    graph: torch.fx.Graph
    tangents: Mapping[int, torch.fx.Node]
    results: tuple[torch.fx.Node, ...]


@dataclass(frozen=True)
class Capture:
    """The joint (or inference) graph of one Dynamo graph, functionalized, with everything the user may observe.

    Attributes:
        tangents: the placeholders that the backward starts from.
        groups: which arguments share memory in the way that the graph was traced for.
        fixes_offsets: whether the graph holds for their storage offsets only.
        grad_mode: autograd's mode after the call, None where it stays.
        once: why the gradient can't be differentiated again, None where nothing is known against it.
        written_last: where an argument is written after autograd saved the last value, None where that is not so.
        convention: the wrapper subclasses around inputs and results.
        frees: for each tensor that leaves the call, the groups of what eager saved that a backward from it frees.
        neighbours: the arguments that lie in one storage: a write of one may move the version counter of all.
        operand_strides: for nodes whose ops may see them, those of the arguments in eager, in the order of the schema.
        layouts: what tells those of them in the backward that hang on tangents, None where none do.
        traced_anew: why PyTorch ran the graph to see what it returns, too, which the eager run has shown already.
    """

    graph: torch.fx.Graph
    inputs: tuple[CapturedArgument, ...]
    owned: tuple[Owned, ...]
    results: tuple[Result, ...]
    tangents: tuple[torch.fx.Node, ...]
    groups: tuple[AliasGroup, ...]
    fixes_offsets: bool
    grad_mode: bool | None
    once: str | None
    written_last: str | None
    convention: Convention
    frees: tuple[tuple[int, ...], ...]
    neighbours: tuple[tuple[int, ...], ...]
    operand_strides: Mapping[torch.fx.Node, tuple[Stated, ...]]
    layouts: BackwardLayouts | None
    traced_anew: tuple[str, ...] = ()
