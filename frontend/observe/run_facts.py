"""What an eager run shows: its tensors and their history.

Those that leave the call have numbers, from 0, by which all that is said of autograd names them.
"""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from dovetail.dialects.statements.wrapped import Convention
from dovetail.frontend.observe.alias_groups import storage
from dovetail.frontend.observe.autograd_graph import Edge
from dovetail.frontend.observe.operand_layouts import OperandLayouts
from dovetail.frontend.observe.undecided_copies import UndecidedCopy
from dovetail.frontend.records import FinalLayout, ViewStep


@dataclass(frozen=True)
class FirstSeen:
    """Where a tensor was first seen: result number `index` of the graph's node `node`, or that tensor's base."""

    node: str
    index: int
    is_base: bool


@dataclass(frozen=True)
class OwnedTensor:
    """Memory that the call makes and hands out: where the run first saw it, how it ends.

    `base` are the sizes of what a custom autograd function has made it a view of.
    """

    tensor: torch.Tensor
    origin: FirstSeen
    layout: FinalLayout
    requires_grad: bool
    base: tuple[int, ...] | None = None


@dataclass(frozen=True)
class WrittenArgument:
    """What the call leaves in the memory of an argument that it writes, by the argument's position."""

    tensor: torch.Tensor
    argument: int


LeavingTensor = OwnedTensor | WrittenArgument
"""In their order: first what the call makes, then what it writes, as the arguments are."""


class Reread(NamedTuple):
    """What eager's backward reads again to recompute a call of `checkpoint`.

    `nodes` are those of autograd's graph that need it, by their sequence numbers; it lies in `memories`.
    """

    nodes: range
    memories: frozenset[int]


@dataclass
class EagerRun:
    """The run's tensors and their history; every tensor is kept, so that identities stay valid.

    Attributes:
        arguments, results: in the graph's order; `before` is the arguments' memory, its bytes and their offsets before
            the run, `versions` by how much their counters moved.
        parents: for a tensor, by identity, the one that it is a view of, and the steps between.
        origins: where tensors were first seen; `born` the version that they had then.
        written: the arguments that an in-place op was called on, directly or through views; `tracked` those of them
            where autograd recorded it; `memories` all memory that was written, `memories_of` that of nodes' results.
        reshaped: how often each argument was given other sizes or strides in place.
        barriers: tensors that a custom autograd function returned.
        once: why the traced operations can't be differentiated twice.
        convention: the wrapper subclasses around arguments and results.
        around: the wrappers that a tensor is a part of, by its identity: a write to one moves its own counter alone.
        history: the nodes of autograd's graph that were there before.
        edges: where gradients of each argument went before, and of what it is a view of.
        operands: for calls of opaque ops, the strides of the operands.
        slices: what nodes of in-place ops on slices have saved, which these don't tell.
        rereads: what calls of `checkpoint` read.
        last_write: when an argument was last written, by autograd's count of nodes, and by which source line.
        fixes_offsets: whether memory is addressed by its offset in the storage, which Dynamo does not guard.
        undecided: the copies that eager may not make.
    """

    mode: FakeTensorMode
    arguments: list
    before: list
    results: list = field(default_factory=list)
    memories: set[int] = field(default_factory=set)
    memories_of: dict[str, tuple[int, ...]] = field(default_factory=dict)
    parents: dict[int, tuple[torch.Tensor, tuple[ViewStep, ...]]] = field(default_factory=dict)
    origins: dict[int, FirstSeen] = field(default_factory=dict)
    born: dict[int, int] = field(default_factory=dict)
    written: set[int] = field(default_factory=set)
    tracked: set[int] = field(default_factory=set)
    versions: list[int] = field(default_factory=list)
    reshaped: Counter[int] = field(default_factory=Counter)
    barriers: set[int] = field(default_factory=set)
    once: list[str] = field(default_factory=list)
    kept: list = field(default_factory=list)
    grad_mode: bool | None = None
    convention: Convention = field(default_factory=lambda: Convention((), ()))
    around: dict[int, list[torch.Tensor]] = field(default_factory=dict)
    history: set[torch.autograd.graph.Node] = field(default_factory=set)
    edges: list[set[Edge]] = field(default_factory=list)
    slices: dict[torch.autograd.graph.Node | None, list[torch.Tensor]] = field(default_factory=dict)
    rereads: list[Reread] = field(default_factory=list)
    last_write: tuple[int, str] = (-1, "")
    fixes_offsets: bool = False
    undecided: list[UndecidedCopy] = field(default_factory=list)
    operands: OperandLayouts = field(default_factory=OperandLayouts)

    @cached_property
    def numbers(self) -> dict[int, int]:
        """The arguments' positions, by identity."""
        return {id(argument): number for number, argument in reversed(list(enumerate(self.arguments)))}

    @cached_property
    def argument_memories(self) -> set[int]:
        """The arguments' memory; a run that gives one other memory is refused."""
        return {storage(argument) for argument in self.arguments if isinstance(argument, torch.Tensor)}

    def path(
        self, tensor: torch.Tensor, until: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, tuple[ViewStep, ...]]:
        """The argument or first tensor that `tensor` is a view of, or `until` before it, and the steps from there."""
        chain: tuple[ViewStep, ...] = ()
        while id(tensor) in self.parents and id(tensor) not in self.numbers and tensor is not until:
            tensor, steps = self.parents[id(tensor)]
            chain = (*steps, *chain)
        return tensor, chain

    def is_known(self, tensor: torch.Tensor) -> bool:
        """Whether `tensor` is an argument, or was seen before."""
        return id(tensor) in self.numbers or id(tensor) in self.origins
