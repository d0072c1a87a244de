"""What a region is given on one GPU, where it is not as the region takes it."""

from typing import Any

import torch

from dovetail.backends.target import ALIGNMENT_ON_GPUS
from dovetail.runtime.cuda.plan_record import Argument, PlanRecord
from dovetail.runtime.launches.misfits import misfit
from dovetail.runtime.stats import count_copy


def copied(record: PlanRecord, device: int, index: int, given: Any) -> torch.Tensor:
    """A copy of argument `index`, an input that only lies otherwise than expected, which counts.

    Raises:
        TypeError, ValueError: for any other difference, naming region and argument.
    """
    wanted = record.arguments[index]
    is_alike = isinstance(given, torch.Tensor) and given.dtype is wanted.dtype and given.shape == wanted.shape
    if not is_alike or given.get_device() != device or wanted.is_written:
        where = f"cuda:{device}, where the region's last argument is"
        raise misfit(record.region, index, given, _words(wanted, where))
    count_copy("region input neither contiguous nor aligned")
    return torch.empty(wanted.shape, dtype=wanted.dtype, device=given.device).copy_(given.detach())


def device_of(record: PlanRecord, tensors: tuple[Any, ...]) -> int:
    """The GPU that the last argument is on, a destination: raises TypeError, ValueError where there is none."""
    last = tensors[-1] if tensors else None
    if not isinstance(last, torch.Tensor) or last.get_device() < 0:
        raise misfit(record.region, len(tensors) - 1, last, _words(record.arguments[-1], "one GPU"))
    return last.get_device()


def _words(wanted: Argument, where: str) -> str:
    return f"{wanted.dtype}, shape {wanted.shape}, contiguous, aligned to {ALIGNMENT_ON_GPUS} bytes, on {where}"
