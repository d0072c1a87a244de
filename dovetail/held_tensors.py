"""The check before a call that the tensors which a graph holds itself still lie as they did when it was compiled."""

from collections.abc import Sequence

import torch
import torch._C._dynamo.guards

from dovetail.errors import AliasMismatch


class HeldTensors:
    """An optimizer's parameters and moments. Dynamo guards that they are the same objects, not what their `.data` is.

    PyTorch's guards ask all of them in one call, and for more than is meant here: what they deny is asked again.
    """

    def __init__(self, tensors: Sequence[torch.Tensor]):
        self._tensors = tensors
        self._layouts = _layouts(tensors)
        sizes, strides = ([list(each[place]) for each in self._layouts] for place in range(2))
        self._guards = torch._C._dynamo.guards.TensorGuards(
            *tensors,
            dynamic_dims_sizes=sizes,  # type: ignore[arg-type]  # PyTorch's stub lacks that there is a list for each
            dynamic_dims_strides=strides,  # type: ignore[arg-type]  # the same
        )

    def check(self) -> None:
        """Raises AliasMismatch if one has another size, layout, type or device."""
        if not self._guards.check(*self._tensors) and _layouts(self._tensors) != self._layouts:
            raise AliasMismatch("a tensor that the graph holds has another size, layout, type or device than before")


def _layouts(tensors: Sequence[torch.Tensor]) -> list[tuple]:
    return [(each.shape, each.stride(), each.dtype, each.device) for each in tensors]
