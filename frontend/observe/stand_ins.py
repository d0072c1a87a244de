"""Tensors without memory that look like a call's arguments."""

from collections.abc import Sequence

import torch
from torch._subclasses.fake_tensor import FakeTensorConverter, FakeTensorMode


def stand_ins(mode: FakeTensorMode, values: Sequence, together: Sequence[tuple[int, ...]]) -> list:
    """One for each tensor: same sizes, strides, place in autograd's graph. Those that are `together` share memory.

    The others are independent even where the tensors lie in one storage: what is learned holds for any that don't
    overlap. Other values stay as they are.
    """
    found = list(values)
    seen: dict[int, torch.Tensor] = {}
    alone = [(index,) for index in range(len(found)) if not any(index in group for group in together)]
    for members in [*together, *alone]:
        converter = FakeTensorConverter()
        for index in members:
            if isinstance(values[index], torch.Tensor):
                if id(values[index]) not in seen:
                    seen[id(values[index])] = converter.from_real_tensor(mode, values[index])
                found[index] = seen[id(values[index])]
    return found


def independent(mode: FakeTensorMode, values: Sequence) -> list:
    """Leaves of the same sizes, strides and types that share nothing."""
    return [
        FakeTensorConverter().from_real_tensor(mode, value).detach().requires_grad_(value.requires_grad)
        if isinstance(value, torch.Tensor)
        else value
        for value in values
    ]
