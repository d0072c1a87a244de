"""Which devices a graph computes on, and which of them its module is for."""

from collections.abc import Iterable, Sequence

import torch
from torch.utils._pytree import tree_leaves

CPU_DEVICE = torch.device("cpu")
TYPES = ("cpu", "cuda")
"""The types of devices whose tensors the IR can say."""


def home_of(graph: torch.fx.Graph, inputs: Sequence) -> torch.device:
    """The device that the program is for: the first GPU among the inputs, else among what is computed, else the CPU."""
    computed = (each for node in graph.nodes for each in tree_leaves(node.meta.get("val")))
    return next((each.device for each in _tensors([*inputs, *computed]) if each.is_cuda), CPU_DEVICE)


def named(device: torch.device, home: torch.device) -> str:
    """How the IR names `device` in a module for `home`: not at all where that is the one."""
    return "" if device == home else str(device)


def with_index(device: torch.device) -> torch.device:
    """`device` with the number that it means now, if it is a GPU without one."""
    has_number = device.type != "cuda" or device.index is not None
    return device if has_number else torch.device("cuda", torch.cuda.current_device())


def _tensors(values: Iterable) -> Iterable[torch.Tensor]:
    return (each for each in values if isinstance(each, torch.Tensor))
