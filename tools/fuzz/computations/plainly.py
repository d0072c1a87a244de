"""`cond` and `checkpoint` as plain Python: the same numbers, in any mode."""

from collections.abc import Callable, Sequence

import torch


def cond(predicate: torch.Tensor, branch: Callable, other: Callable, operands: Sequence[torch.Tensor]):
    """`torch.cond`, which tracing modes can't enter."""
    return (branch if predicate else other)(*operands)


def checkpoint(body: Callable, *arguments: torch.Tensor, use_reentrant: bool):
    """`torch.utils.checkpoint.checkpoint`, without running anything twice."""
    return body(*arguments)
