"""Where tensors lie, and whether compiled regions can take them there; of many, the extension asks in one call."""

from array import array
from collections.abc import Sequence

import torch

from dovetail.backends.target import ALIGNMENT
from dovetail.runtime.extension import extension

_data_ptr = torch.Tensor.data_ptr


def is_importable(tensor: torch.Tensor) -> bool:
    """Whether a compiled region can read `tensor` where it lies."""
    address = _data_ptr(tensor)
    if address % ALIGNMENT or not tensor.is_contiguous():
        return False
    # A negative view (`is_neg`) shows other values than its memory holds, zeros may have no memory.
    return not tensor.is_neg() and (bool(address) or not tensor.numel())


def are_importable(tensors: Sequence[torch.Tensor]) -> bool:
    """Whether compiled regions can read all of `tensors` where they lie."""
    launch = extension()
    known = launch.count_ready(tensors) if launch else 0
    return known == len(tensors) or all(map(is_importable, tensors[known:]))


def addresses(tensors: Sequence[torch.Tensor]) -> bytes:
    """Where each of `tensors` starts, as the bytes of an array of numbers of 64 bits."""
    launch = extension()
    found = launch.addresses(tensors) if launch else None
    return array("Q", map(_data_ptr, tensors)).tobytes() if found is None else found
