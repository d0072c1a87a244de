"""What is left of `torch.utils.checkpoint` in a Dynamo graph once its regions are part of the graph.

Each node of a region says which one. Tracing tags the ops of a region by it; the partition reads the tags.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException
from torch.fx import traceback
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import CheckpointPolicy

from dovetail.frontend.dynamo.graph import is_static

_REGION = "dovetail_region"


@dataclass(frozen=True)
class CheckpointedRegion:
    """A checkpointed region: equal numbers are parts of one outermost call of `checkpoint`.

    `calls` are the numbers of that call and of those inside of it that the region is a part of.
    `contexts` is the user's `context_fn`, whose first context says what of the region is saved; None recomputes all.
    `draws_alike` is the user's `preserve_rng_state`: whether its recomputation draws the random numbers of the forward.
    """

    calls: tuple[int, ...]
    contexts: Callable[[], tuple] | None
    draws_alike: bool

    def within(self, outer: "CheckpointedRegion | None") -> "CheckpointedRegion":
        """This region inside of `outer`: one call saves and recomputes all of it, the innermost policy holds."""
        if outer is None:
            return self
        return CheckpointedRegion(
            outer.calls + self.calls, self.contexts or outer.contexts, self.draws_alike and outer.draws_alike
        )

    @property
    def number(self) -> int:
        """That of the outermost call."""
        return self.calls[0]

    def tagging(self) -> AbstractContextManager:
        """Where the region's ops are traced: tags them with the policy."""
        if self.contexts is None:
            return _Recomputed(self.number)
        forward, _ = self.contexts()
        forward.ac_graph_id = self.number
        return forward


class _Recomputed(TorchDispatchMode):
    """Tags all that is traced as recomputed; as a mode, since operators with graphs of their own bring other nodes."""

    supports_higher_order_operators = True

    def __init__(self, number: int):
        super().__init__()
        self.number = number

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        traceback.current_meta["recompute"] = CheckpointPolicy.PREFER_RECOMPUTE
        traceback.current_meta["ac_graph_id"] = self.number
        return func(*args, **(kwargs or {}))


def region_of(node: torch.fx.Node) -> CheckpointedRegion | None:
    """The region that `node` is a part of, None outside of all."""
    return node.meta.get(_REGION)


def place_in(region: CheckpointedRegion, node: torch.fx.Node) -> None:
    """Makes `node` a part of `region`, by way of the region inside of it that it may be a part of."""
    inner = region_of(node)
    node.meta[_REGION] = region if inner is None else inner.within(region)


def check_reentrant(call: torch.fx.Node, operands: Sequence) -> None:
    """Breaks the graph where nothing but parameters requires a gradient in a call with `use_reentrant=True`.

    Eager's result has none then, unless a parameter is passed by name: Dynamo's operands don't tell. Its own call does.
    """
    differentiable = [operand for operand in operands if isinstance(operand, torch.fx.Node) and _requires_grad(operand)]
    is_reentrant = torch.is_grad_enabled() and call.kwargs.get("use_reentrant", False)
    if is_reentrant and differentiable and all(map(is_static, differentiable)):
        raise DataDependentOutputException(cast(Any, call.target))


def _requires_grad(node: torch.fx.Node) -> bool:
    value = node.meta.get("example_value")
    return isinstance(value, torch.Tensor) and value.requires_grad
