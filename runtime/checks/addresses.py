"""Where tensors lie, and whether compiled regions can take them there; of many, the extension asks in one call."""

from array import array
from collections.abc import Callable, Sequence

import torch

from dovetail.backends.target import ALIGNMENT, ALIGNMENT_ON_GPUS
from dovetail.runtime.checks.alike import Alike
from dovetail.runtime.extension import extension

_data_ptr = torch.Tensor.data_ptr


def is_importable(tensor: torch.Tensor) -> bool:
    """Whether a compiled region can read `tensor` where it lies."""
    address = _data_ptr(tensor)
    if address % (ALIGNMENT_ON_GPUS if tensor.is_cuda else ALIGNMENT) or not tensor.is_contiguous():
        return False
    # A negative view (`is_neg`) shows other values than its memory holds, zeros may have no memory.
    return not tensor.is_neg() and (bool(address) or not tensor.numel())


class Importable:
    """Whether compiled regions can read tensors where they lie, asked in one place: mostly of tensors as before."""

    def __init__(self, alignment: int) -> None:
        self._alike, self._alignment = Alike(), alignment

    def __call__(self, tensors: Sequence[torch.Tensor]) -> bool:
        if self._alike.addresses(tensors, self._alignment) is not None:
            return True
        if not all(map(is_importable, tensors)):
            return False
        self._alike.remember(tensors)
        return True


def are_importable(device: str) -> Callable[[Sequence[torch.Tensor]], bool]:
    """Tells whether regions can surely read tensors on `device` where they lie: the extension, of the CPU's."""
    if device != "cpu":
        return Importable(ALIGNMENT_ON_GPUS)
    launch = extension()
    return launch.are_ready if launch else Importable(ALIGNMENT)


def addresses(tensors: Sequence[torch.Tensor]) -> bytes:
    """Where each of `tensors` starts, as the bytes of an array of numbers of 64 bits."""
    launch = extension()
    found = launch.addresses(tensors) if launch else None
    return array("Q", map(_data_ptr, tensors)).tobytes() if found is None else found
