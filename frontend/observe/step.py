"""One step of an eager run: a node of the graph, as it ran."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import torch
from torch.utils._pytree import tree_leaves

from dovetail.frontend.dynamo.source_lines import source_line
from dovetail.frontend.observe.alias_groups import storage
from dovetail.frontend.observe.autograd_graph import version
from dovetail.frontend.observe.bound_arguments import bound, is_written, schema
from dovetail.frontend.observe.op_calls import Event, Reshaped, Wrote
from dovetail.frontend.observe.transforms import unwrapped
from dovetail.frontend.observe.view_chains import Key, key
from dovetail.frontend.observe.wrapped_arguments import plain_tensors

E = TypeVar("E", bound=Event)


class Given(NamedTuple):
    """A tensor that a node was given, and what it was then."""

    tensor: torch.Tensor
    version: int
    key: Key
    requires_grad: bool

    @classmethod
    def of(cls, tensor: torch.Tensor) -> "Given":
        """`tensor` as it is now."""
        return cls(tensor, version(tensor), key(tensor), tensor.requires_grad)


@dataclass(frozen=True)
class Step:
    """What a node did.

    Attributes:
        args, kwargs: what it was called with; `given` are the tensors among them.
        returned: the tensors that it returned.
        events: what ops did meanwhile.
        grad_mode: autograd's mode before; `ambient` that of the whole run.
    """

    node: torch.fx.Node
    args: tuple
    kwargs: dict[str, Any]
    given: tuple[Given, ...]
    returned: tuple[torch.Tensor, ...]
    events: tuple[Event, ...]
    grad_mode: bool
    ambient: bool

    @property
    def line(self) -> str:
        """The user's source line."""
        return source_line(self.node)

    @property
    def name(self) -> str:
        """The name of what the node calls."""
        return getattr(self.node.target, "__name__", str(self.node.target))

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @cached_property
    def written(self) -> set[int]:
        """The memory that was written."""
        return {storage(event.tensor) for event in self.of(Wrote)}

    @cached_property
    def changed(self) -> set[int]:
        """The memory that was written, or whose tensors were given other sizes."""
        return self.written.union(storage(event.tensor) for event in self.of(Reshaped))

    @cached_property
    def targets(self) -> list[torch.Tensor]:
        """The tensors that an in-place op was called on: what it returns, else what it was given first, else all."""
        touched = [operand.tensor for operand in self.given if storage(operand.tensor) in self.written]
        returned, first = set(map(id, self.returned)), plain_tensors(tree_leaves(self.args[:1]))
        same = [tensor for tensor in touched if id(tensor) in returned]
        firsts = [tensor for tensor in touched if any(tensor is other for other in first)]
        targets = same or (self._declared() if self.written else []) or firsts or touched
        return list({id(target): target for target in targets}.values())

    def _declared(self) -> list[torch.Tensor]:
        """What a custom op writes, as its schema says: any of its arguments, lists and optional ones included."""
        given = bound(self.node.target, self.args, self.kwargs)
        names = [argument.name for argument in schema(self.node.target) if is_written(argument)]
        return [tensor for name in names for tensor in plain_tensors(tree_leaves(given.get(name)))]


def given_tensors(args: tuple, kwargs: Mapping[str, Any]) -> tuple[Given, ...]:
    """The tensors among a call's arguments, those inside of wrappers and transforms' tensors, as they are now."""
    return tuple(Given.of(unwrapped(tensor)) for tensor in plain_tensors(tree_leaves((args, kwargs))))
