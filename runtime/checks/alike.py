"""Tensors that are as those of a call before, but for where they lie: PyTorch's guards ask it of all at once."""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_

import torch
import torch._C._dynamo.guards

_data_ptr = torch.Tensor.data_ptr


class Alike:
    """Whether tensors have the types, devices, sizes and strides of some before, and show their memory as those did.

    PyTorch's guards ask for more than is meant: what they deny may be so, as of one tensor that is there twice.
    """

    def __init__(self) -> None:
        self._known: tuple[int, Callable[..., bool]] = -1, lambda *_: False

    def __call__(self, tensors: Sequence[torch.Tensor]) -> bool:
        count, are_alike = self._known
        return len(tensors) == count and are_alike(*tensors)

    def addresses(self, tensors: Sequence[torch.Tensor], alignment: int) -> list[int] | None:
        """Where `tensors` lie; None where one is not alike, has no memory or is not aligned to so many bytes."""
        count, are_alike = self._known
        if len(tensors) != count or not are_alike(*tensors):
            return None
        found = [*map(_data_ptr, tensors)]
        return found if all(found) and not reduce(or_, found) % alignment else None

    def remember(self, tensors: Sequence[torch.Tensor]) -> None:
        """Has later ones compared with `tensors`, at least one."""
        sizes, strides = [list(tensor.shape) for tensor in tensors], [list(tensor.stride()) for tensor in tensors]
        guards = torch._C._dynamo.guards.TensorGuards(
            *tensors,
            dynamic_dims_sizes=sizes,  # type: ignore[arg-type]  # PyTorch's stub lacks that there is a list for each
            dynamic_dims_strides=strides,  # type: ignore[arg-type]  # the same
        )
        self._known = len(tensors), guards.check
