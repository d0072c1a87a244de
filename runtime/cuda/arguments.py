"""Looks at what a region is given before it writes anything."""

from typing import Any

import torch

from dovetail.runtime.alike import Alike
from dovetail.runtime.misfits import misfit
from dovetail.runtime.plan_records import Argument
from dovetail.runtime.stats import count_copy

ALIGNMENT = 16
"""Bytes. The widest load of a GPU faults on less; torch allocates to 512, but views may start anywhere."""

_data_ptr = torch.Tensor.data_ptr


class Arguments:
    """What a region is given on one GPU; tensors as those of a call before are not looked at again one by one."""

    def __init__(self, region: str, expected: tuple[Argument, ...], device: int):
        self._stated = region, expected
        self._device = device
        self._alike = Alike()

    def looked_at(self, tensors: tuple) -> tuple[list[int], list]:
        """As `looked_at`."""
        known = self._alike.addresses(tensors, ALIGNMENT)
        if known is not None:
            return known, []
        addresses, copies = looked_at(*self._stated, tensors, self._device)
        if not copies and len({*map(id, tensors)}) == len(tensors):
            self._alike.remember(tensors)
        return addresses, copies


def looked_at(region: str, expected: tuple[Argument, ...], tensors: tuple, device: int) -> tuple[list[int], list]:
    """The addresses of `tensors`, and the copies that some of them lie at, to be kept until everything is launched.

    An input that only lies otherwise than expected is copied, which counts.

    Raises:
        TypeError, ValueError: for any other difference, naming region and argument.
    """
    if len(tensors) != len(expected):
        raise TypeError(f"region '{region}': got {len(tensors)} arguments, expected {len(expected)}")
    addresses, copies = [], []
    for tensor, wanted in zip(tensors, expected, strict=True):
        dtype, shape, _ = wanted
        if (
            isinstance(tensor, torch.Tensor)
            and tensor.dtype is dtype
            and tensor.shape == shape
            and tensor.get_device() == device
            and tensor.is_contiguous()
            and not (address := _data_ptr(tensor)) % ALIGNMENT
            and not tensor.is_neg()
            and (address or not tensor.numel())  # zeros may have no memory
        ):
            addresses.append(address)
        else:
            copies.append(_copied(region, len(addresses), wanted, tensor, device))
            addresses.append(_data_ptr(copies[-1]))
    return addresses, copies


def _copied(region: str, index: int, wanted: Argument, given: Any, device: int) -> torch.Tensor:
    """A copy of an input that only lies otherwise; raises TypeError, ValueError for any other difference."""
    is_alike = isinstance(given, torch.Tensor) and given.dtype is wanted.dtype and given.shape == wanted.shape
    if not is_alike or given.get_device() != device or wanted.is_written:
        raise misfit(region, index, given, _words(wanted, f"cuda:{device}, where the region's last argument is"))
    count_copy("region input neither contiguous nor aligned")
    return torch.empty(wanted.shape, dtype=wanted.dtype, device=given.device).copy_(given.detach())


def _words(wanted: Argument, where: str) -> str:
    return f"{wanted.dtype}, shape {wanted.shape}, contiguous, aligned to {ALIGNMENT} bytes, on {where}"


def device_of(region: str, expected: tuple[Argument, ...], tensors: tuple[Any, ...]) -> int:
    """The GPU that the last argument is on, a destination: raises TypeError, ValueError where there is none."""
    last = tensors[-1] if tensors else None
    if not isinstance(last, torch.Tensor) or last.get_device() < 0:
        raise misfit(region, len(tensors) - 1, last, _words(expected[-1], "one GPU"))
    return last.get_device()
