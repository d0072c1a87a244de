"""Looks at what a region is given before it writes anything."""

from typing import Any

import torch

from dovetail.runtime.checks.alike import Alike
from dovetail.runtime.cuda.plan_record import Argument
from dovetail.runtime.launches.misfits import misfit
from dovetail.runtime.stats import count_copy

ALIGNMENT = 16
"""Bytes. The widest load of a GPU faults on less; torch allocates to 512, but views may start anywhere."""

_data_ptr = torch.Tensor.data_ptr


class Arguments:
    """What a region is given on one GPU; tensors as those of a call before are not looked at again one by one."""

    def __init__(self, region: str, expected: tuple[Argument, ...], device: int):
        self._region, self._expected, self._device = region, expected, device
        self._alike = Alike()

    def looked_at(self, tensors: tuple) -> tuple[list[int], list]:
        """The addresses of `tensors`, and copies at which some of them lie, to be kept until everything is launched.

        An input that only lies otherwise than expected is copied, which counts.

        Raises:
            TypeError, ValueError: for any other difference, naming region and argument.
        """
        known = self._alike.addresses(tensors, ALIGNMENT)
        if known is not None:
            return known, []
        if len(tensors) != len(self._expected):
            raise TypeError(f"region '{self._region}': got {len(tensors)} arguments, expected {len(self._expected)}")
        addresses, copies = [], []
        for tensor, wanted in zip(tensors, self._expected, strict=True):
            dtype, shape, _ = wanted
            if (
                isinstance(tensor, torch.Tensor)
                and tensor.dtype is dtype
                and tensor.shape == shape
                and tensor.get_device() == self._device
                and tensor.is_contiguous()
                and not (address := _data_ptr(tensor)) % ALIGNMENT
                and not tensor.is_neg()
                and (address or not tensor.numel())  # zeros may have no memory
            ):
                addresses.append(address)
            else:
                copies.append(self._copied(len(addresses), wanted, tensor))
                addresses.append(_data_ptr(copies[-1]))
        if not copies and len({*map(id, tensors)}) == len(tensors):
            self._alike.remember(tensors)
        return addresses, copies

    def _copied(self, index: int, wanted: Argument, given: Any) -> torch.Tensor:
        is_alike = isinstance(given, torch.Tensor) and given.dtype is wanted.dtype and given.shape == wanted.shape
        if not is_alike or given.get_device() != self._device or wanted.is_written:
            where = f"cuda:{self._device}, where the region's last argument is"
            raise misfit(self._region, index, given, _words(wanted, where))
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
