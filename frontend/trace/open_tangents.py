"""Gradients of results of open sizes lie as these do, where PyTorch would lay them out in rows.

Of known sizes it guesses so itself. A gradient of a transposed result is copied otherwise, one element at a time.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch._functorch._aot_autograd.schemas import MemoryFormatMeta
from torch._subclasses import FakeTensor

from dovetail.frontend.dynamo.open_sizes import identity, is_open_value


@contextmanager
def open_tangents() -> Iterator[None]:
    """While it is open, the backward is traced for gradients that lie so."""
    guessed = MemoryFormatMeta.from_tensor

    def as_result(tensor: torch.Tensor, *settings: Any, **others: Any) -> MemoryFormatMeta | None:
        if type(tensor) is FakeTensor and _is_turned(tensor.size(), tensor.stride()):
            return MemoryFormatMeta(size=tensor.size(), stride=tensor.stride())
        return guessed(tensor, *settings, **others)

    MemoryFormatMeta.from_tensor = staticmethod(as_result)  # type: ignore[method-assign, assignment]  # put back below
    try:
        yield
    finally:
        MemoryFormatMeta.from_tensor = staticmethod(guessed)  # type: ignore[method-assign]  # as it was


def _is_turned(sizes: Sequence, strides: Sequence) -> bool:
    """Whether `strides` surely are those of rows of dimensions in another order, some of them of an open size."""
    order, reach = list[int](), 1
    for _ in sizes:
        lies_next = (
            dim for dim, stride in enumerate(strides) if dim not in order and identity(stride) == identity(reach)
        )
        found = next(lies_next, None)
        if found is None:
            return False
        order.append(found)
        reach = reach * sizes[found]
    return any(map(is_open_value, sizes)) and order != sorted(order, reverse=True)
