"""The tensors that leave a call. Their numbers, from 0, are those by which all that is said of autograd names them."""

from dataclasses import dataclass

import torch

from dovetail.frontend.observe.run_facts import Origin
from dovetail.frontend.records import Layout


@dataclass(frozen=True)
class OwnedTensor:
    """Memory that the call makes and hands out: where the run first saw it, how it ends.

    `base` are the sizes of what a custom autograd function has made it a view of.
    """

    tensor: torch.Tensor
    origin: Origin
    layout: Layout
    requires_grad: bool
    base: tuple[int, ...] | None = None


@dataclass(frozen=True)
class WrittenArgument:
    """What the call leaves in the memory of an argument that it writes, by the argument's position."""

    tensor: torch.Tensor
    argument: int


Leaving = OwnedTensor | WrittenArgument
"""In their order: first what the call makes, then what it writes, as the arguments are."""
