"""Whether tensors have elements, asked where sizes may be open."""

import torch
from torch.fx.experimental.symbolic_shapes import guard_or_false


def is_empty(tensor: torch.Tensor) -> bool:
    """Whether `tensor` has no elements; that it has so many as now becomes a guard, where sizes are open.

    Where only data tells how many, it is taken to have some.
    """
    return guard_or_false(tensor.numel() == 0)
