"""Which devices a graph computes on, and which of them its module is for."""

from collections.abc import Sequence

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._pytree import tree_leaves

CPU_DEVICE = torch.device("cpu")
TYPES = ("cpu", "cuda")
"""The types of devices whose tensors the IR can say."""


def home_of(graph: torch.fx.Graph, inputs: Sequence) -> torch.device:
    """The device that the program is for: the first GPU among the inputs, else among what is computed, else the CPU."""
    computed = (leaf for node in graph.nodes for leaf in tree_leaves(node.meta.get("val")))
    tensors = (value for value in (*inputs, *computed) if isinstance(value, torch.Tensor))
    return next((tensor.device for tensor in tensors if tensor.is_cuda), CPU_DEVICE)


class _TracedOn:
    """The GPU that was current in the last capture, None before the first one that had any."""

    number: int | None = None


def forget_other_gpus() -> None:
    """Has "cuda" mean the current GPU in what is traced next.

    PyTorch remembers what an op gives for tensors without memory by its arguments, among which "cuda" stays "cuda".
    """
    if torch.cuda.is_initialized() and torch.cuda.current_device() != _TracedOn.number:
        FakeTensorMode.cache_clear()
        _TracedOn.number = torch.cuda.current_device()


def takes_current(graph: torch.fx.Graph) -> bool:
    """Whether the graph names a GPU without its number, which is then the current one of the calling thread."""
    return any(_is_current(leaf) for node in graph.nodes for leaf in tree_leaves((node.args, node.kwargs)))


def rounds_convolutions() -> bool:
    """Whether a GPU's library convolves float32 by tensor cores, which round to TF32, as PyTorch's switches say now."""
    convolutions = torch.backends.cudnn.conv  # type: ignore[attr-defined]  # PyTorch's stub lacks it
    return torch.backends.cudnn.enabled and convolutions.fp32_precision == "tf32"


def named(device: torch.device, home: torch.device) -> str:
    """How the IR names `device` in a module for `home`: not at all where that is the one."""
    return "" if device == home else str(device)


def with_index(device: torch.device) -> torch.device:
    """`device` with the number that it means now, if it is a GPU without one."""
    return torch.device("cuda", torch.cuda.current_device()) if _is_current(device) else device


def _is_current(value: object) -> bool:
    return isinstance(value, torch.device) and value.type == "cuda" and value.index is None
