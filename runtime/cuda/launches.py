"""Regions that run one after the other on a GPU: all tensors are looked at once, and all steps launched in one call."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from dovetail.runtime.cuda import driver
from dovetail.runtime.cuda.plan import Plan
from dovetail.runtime.cuda.steps import Run, run_of


class Launches:
    """Plans, each with the positions of its arguments in a list of so many tensors of one GPU; callable on such a list.

    Nothing runs where a tensor is otherwise than a region expects, or `check(addresses)` raises; a call tells
    if it ran. All else is as of a `Plan`: streams, threads, and errors, which name region and step.
    """

    def __init__(
        self,
        launched: Sequence[tuple[Plan, tuple[int, ...]]],
        count: int,
        check: Callable[[bytes], None],
        device: int,
    ):
        self._launched, self._count, self._check, self._device = launched, count, check, device
        self._run: Run | None = None

    def __call__(self, tensors: list[torch.Tensor]) -> bool:
        driver.refuse_forked_child()
        if self._run is None:
            regions = [(plan.loaded(self._device), positions) for plan, positions in self._launched]
            self._run = run_of(regions, self._count, self._device, _nothing, self._check)
        return self._run(*tensors)


def _nothing(index: int, given: Any) -> None:
    """What is taken in place of a tensor that a region can't take: the program's own functions run."""
