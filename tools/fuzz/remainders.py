"""Ops that ATen's kernels compute otherwise in their vectors than in the remainder after them.

Gradients of NaN, by other comparisons; and in vectors `fmod` of a number whose quotient is too large, which is NaN.
"""

from collections.abc import Callable

import torch
from torch.utils._pytree import tree_map_only

aten = torch.ops.aten
BY_PLACE = {
    aten.elu_backward.default,
    aten.fmod.Scalar,
    aten.hardshrink_backward.default,
    aten.hardswish_backward.default,
    aten.hardtanh_backward.default,
    aten.logit_backward.default,
    aten.softshrink_backward.default,
}
_VECTORS = 64  # of which no element of the first copy is in the remainder


def in_vectors(func: Callable, args) -> torch.Tensor:
    """What a pointwise op gives where each element lies in one of the vectors of its kernel."""
    copied = func(*tree_map_only(torch.Tensor, lambda each: each.flatten().repeat(_VECTORS), args))
    return copied[: args[0].numel()].view(args[0].shape)
