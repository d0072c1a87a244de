"""Looks at what a region is given before it writes anything."""

from typing import Any

import torch

from dovetail.runtime.cuda.records import Argument
from dovetail.runtime.stats import count_copy

ALIGNMENT = 16
"""Bytes. The widest load of a GPU faults on less; torch allocates to 512, but views may start anywhere."""

_data_ptr = torch.Tensor.data_ptr


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
        ):
            addresses.append(address)
        else:
            copies.append(_copied(region, len(addresses), wanted, tensor, device))
            addresses.append(_data_ptr(copies[-1]))
    return addresses, copies


def _copied(region: str, index: int, wanted: Argument, given: Any, device: int) -> torch.Tensor:
    """A copy of an input that only lies otherwise; raises TypeError, ValueError for any other difference."""
    if not isinstance(given, torch.Tensor):
        raise TypeError(f"{_place(region, index)}: got {type(given).__name__}; {_words(wanted)}")
    is_other = given.dtype is not wanted.dtype or given.shape != wanted.shape or given.get_device() != device
    if is_other or wanted.is_written:
        raise ValueError(f"{_place(region, index)}: got {_found(given)}; {_words(wanted, device)}")
    count_copy("region input neither contiguous nor aligned")
    return torch.empty(wanted.shape, dtype=wanted.dtype, device=given.device).copy_(given.detach())


def _place(region: str, index: int) -> str:
    return f"region '{region}', argument {index}"


def _found(tensor: torch.Tensor) -> str:
    where = f", address {_data_ptr(tensor):#x}" if tensor.get_device() >= 0 else ""
    return f"{tensor.dtype}, shape {tuple(tensor.shape)}, strides {tensor.stride()}, on {tensor.device}{where}"


def _words(wanted: Argument, device: int | None = None) -> str:
    on = "one GPU" if device is None or device < 0 else f"cuda:{device}, where the region's last argument is"
    layout = f"shape {wanted.shape}, contiguous, aligned to {ALIGNMENT} bytes"
    return f"expected {wanted.dtype}, {layout}, on {on}"


def device_of(region: str, expected: tuple[Argument, ...], tensors: tuple[Any, ...]) -> int:
    """The GPU that the last argument is on, a destination: raises TypeError, ValueError where there is none."""
    last = tensors[-1] if tensors else None
    if not isinstance(last, torch.Tensor):
        raise TypeError(f"{_place(region, len(tensors) - 1)}: got {type(last).__name__}; {_words(expected[-1])}")
    if last.get_device() < 0:
        raise ValueError(f"{_place(region, len(tensors) - 1)}: got {_found(last)}; {_words(expected[-1])}")
    return last.get_device()
