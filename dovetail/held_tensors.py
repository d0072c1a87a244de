"""The check before a call that the tensors which a graph holds itself still lie as they did when it was compiled."""

from collections.abc import Sequence

import torch

from dovetail.errors import AliasMismatch
from dovetail.runtime.checks.alike import Alike


class HeldTensors:
    """An optimizer's parameters and moments. Dynamo guards that they are the same, not what their `.data` is."""

    def __init__(self, tensors: Sequence[torch.Tensor]):
        self._tensors = tensors
        self._layouts = _layouts(tensors)
        self._alike = Alike()
        self._alike.remember(tensors)

    def check(self) -> None:
        """Raises AliasMismatch if one has another size, layout, type or device."""
        if not self._alike(self._tensors) and _layouts(self._tensors) != self._layouts:
            raise AliasMismatch("a tensor that the graph holds has another size, layout, type or device than before")


def _layouts(tensors: Sequence[torch.Tensor]) -> list[tuple]:
    return [(tensor.shape, tensor.stride(), tensor.dtype, tensor.device) for tensor in tensors]
