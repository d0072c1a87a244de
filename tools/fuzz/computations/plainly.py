"""What runs otherwise in modes of `__torch_dispatch__`, as plain Python: the same numbers as without one."""

from collections.abc import Callable, Sequence

import torch

from dovetail.frontend.decompose.extremum_gradients import selecting

aten = torch.ops.aten

_EXTREMA = {each.overloadpacket.__name__: each for each in (aten.max.default, aten.min.default, aten.median.default)}


def cond(predicate: torch.Tensor, branch: Callable, other: Callable, operands: Sequence[torch.Tensor]):
    """`torch.cond`, which tracing modes can't enter."""
    return (branch if predicate else other)(*operands)


def checkpoint(body: Callable, *arguments: torch.Tensor, use_reentrant: bool, preserve_rng_state: bool = True):
    """`torch.utils.checkpoint.checkpoint`, without running anything twice."""
    return body(*arguments)


def extremum(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """`tensor.max()` and the like, whose gradient eager selects; in modes it multiplies, and 0 times NaN is NaN."""
    return selecting(_EXTREMA[name])(tensor)
