"""Tensors without memory that look like a call's arguments."""

from collections.abc import Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorConverter, FakeTensorMode

from dovetail.frontend.dynamo.open_sizes import has_context, open_item


def stand_ins(mode: FakeTensorMode, values: Sequence, together: Sequence[tuple[int, ...]]) -> list:
    """One for each tensor: same sizes, strides, history in autograd's graph. Those that are `together` share memory.

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
                    seen[id(values[index])] = _stand_in(converter, mode, values[index])
                found[index] = seen[id(values[index])]
    return found


def independent(mode: FakeTensorMode, values: Sequence) -> list:
    """Leaves of the same sizes, strides and types that share nothing."""
    return [
        _with_item(_stand_in(FakeTensorConverter(), mode, value).detach().requires_grad_(value.requires_grad), value)
        if isinstance(value, torch.Tensor)
        else value
        for value in values
    ]


def _stand_in(converter: FakeTensorConverter, mode: FakeTensorMode, tensor: torch.Tensor) -> torch.Tensor:
    """The sizes that Dynamo leaves open in the mode's shape environment are open."""
    if not has_context(tensor, mode.shape_env):
        return converter.from_real_tensor(mode, tensor)
    return _with_item(converter.from_real_tensor(mode, tensor, shape_env=mode.shape_env), tensor)


def _with_item(made: Any, tensor: torch.Tensor) -> torch.Tensor:
    """`made`, which holds the same number as `tensor` where that is an open one."""
    if has_context(tensor, made.fake_mode.shape_env) and open_item(tensor) is not None:
        made.item_memo = open_item(tensor)
    return made
