"""Copies of what leaves the call through views alone, taken where the last of these views is made.

Autograd runs last what was recorded first. Eager adds the gradient that comes through a view to those of what was done
after it, and the sum lies as its first addend does: a custom op below it sees how. The views are the caller's, and
their gradients come through the copy; so it is recorded where they were.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import torch
from torch.utils._pytree import tree_leaves

from dovetail.frontend.observe.observations import Observations
from dovetail.frontend.observe.run_facts import EagerRun, FirstSeen, OwnedTensor
from dovetail.frontend.observe.transforms import is_inside_transform, unwrapped
from dovetail.frontend.observe.wrapped_arguments import differentiable_tensors


@dataclass
class CopiesAtViews:
    """The copies of one traced call.

    Attributes:
        owned: the memory that the call hands out, by number.
        at: the numbers of what to copy after a node, by the node's name.
        copies: by number the copy, the tensor, and the version that it had.
    """

    owned: Sequence[OwnedTensor]
    at: Mapping[str, Sequence[int]]
    copies: dict[int, tuple[torch.Tensor, torch.Tensor, int]] = field(default_factory=dict)

    def take(self, node: str, values: Mapping[str, object]) -> None:
        """Copies what is to be copied after `node`; `values` are those of the nodes until there.

        Not inside of a transform: its level would own the copy.
        """
        if is_inside_transform():
            return
        for number in self.at.get(node, ()):
            tensor = at_origin(self.owned[number].origin, values)
            copied = independent(tensor, self.owned[number].requires_grad)
            self.copies[number] = copied, tensor, tensor._version

    def of(self, number: int) -> torch.Tensor | None:
        """The copy of an owned tensor; None where there is none, or the tensor was written since."""
        if number not in self.copies:
            return None
        copied, tensor, version = self.copies[number]
        return copied if tensor._version == version else None


def last_views(run: EagerRun, seen: Observations) -> dict[str, list[int]]:
    """By node, the numbers of the owned tensors that leave through views alone, the last of which it makes."""
    positions = {tensor: position for position, tensor in enumerate(run.origins)}
    at: dict[str, list[int]] = defaultdict(list)
    for number, owned in enumerate(seen.owned):
        results = zip(run.results, seen.results, strict=True)
        shown = [tensor for tensor, result in results if result.owned == number]
        if any(tensor is owned.tensor for tensor in shown):
            continue  # what the caller does with it comes after all views
        views = [id(_first_view(run, tensor, owned.tensor)) for tensor in shown if tensor.requires_grad]
        if views:
            at[run.origins[max(views, key=lambda each: positions[each])].node].append(number)
    return at


def _first_view(run: EagerRun, tensor: torch.Tensor, root: torch.Tensor) -> torch.Tensor:
    """What `tensor` is a view of and is a view of `root` itself, or `tensor`."""
    while run.parents[id(tensor)][0] is not root:
        tensor, _ = run.parents[id(tensor)]
    return tensor


def at_origin(origin: FirstSeen, values: Mapping[str, object]) -> torch.Tensor:
    """The tensor of the graph that has this origin."""
    tensor = unwrapped(differentiable_tensors(tree_leaves(values[origin.node]))[origin.index])
    return cast(torch.Tensor, tensor._base) if origin.is_base else tensor


def independent(tensor: torch.Tensor, requires_grad: bool) -> torch.Tensor:
    """A copy, with the history of `tensor` if it `requires_grad`."""
    has_history = tensor.requires_grad and torch.is_grad_enabled()
    return tensor.detach().clone() if has_history and not requires_grad else tensor.clone()
