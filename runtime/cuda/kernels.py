"""Regions that run one after the other on a GPU: the extension looks at all tensors once, and launches all kernels."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from dovetail.errors import LaunchError
from dovetail.runtime.cuda import driver, torch_streams
from dovetail.runtime.cuda.arguments import ALIGNMENT
from dovetail.runtime.cuda.plan import INVALID_CONTEXT, Plan, where
from dovetail.runtime.cuda.plan_record import PlanRecord
from dovetail.runtime.launches.element_types import kind_of
from dovetail.runtime.launches.plan_records import Dispatch, table

if TYPE_CHECKING:
    from dovetail.runtime import _launch

_CUDA = 2
"""DLPack's number of this type of device."""

Launched = Sequence[tuple[Plan, tuple[int, ...]]]
"""Regions in order, each with the positions of its arguments in a list of tensors."""


class Kernels:
    """Plans that only launch kernels, callable on a list of so many tensors, all of one GPU; tells whether they ran.

    Nothing runs where a tensor is otherwise than a region expects, or `check(addresses)` raises. All else is as of a
    `Plan`: streams, threads, and errors, which name region and step.
    """

    def __init__(self, launched: Launched, count: int, check: Callable[[bytes], None], device: int):
        self._launched, self._count, self._check, self._device = launched, count, check, device
        self._prepared: _launch.Kernels | None = None

    def __call__(self, tensors: list[torch.Tensor]) -> bool:
        driver.refuse_forked_child()
        if self._prepared is None:
            self._prepared = self._prepare()
        stream = torch_streams.raw_stream(self._device)
        if torch_streams.current_device() == self._device:
            return self._prepared(tensors, stream)
        with driver.on(self._device):
            return self._prepared(tensors, stream)

    def _prepare(self) -> "_launch.Kernels":
        """Loads all code; raises LaunchError if it can't be."""
        from dovetail.runtime import _launch

        expected: dict[int, tuple] = {}
        kernels = []
        for plan, positions in self._launched:
            for position, (dtype, shape, _) in zip(positions, plan.record.arguments, strict=True):
                kind = kind_of(str(dtype).removeprefix("torch."))
                expected[position] = shape, kind, dtype.itemsize * 8, False, False
            handles = plan.prepare(self._device).kernels
            kernels += [_launch_of(*pair, positions) for pair in zip(plan.record.steps, handles, strict=True)]
        tensors = tuple(expected[position] for position in range(self._count))
        launch, place = driver.address_of("cuLaunchKernel"), (_CUDA, self._device, ALIGNMENT)
        steps = [(plan.record, index) for plan, _ in self._launched for index in range(len(plan.record.steps))]
        refused = partial(_refused, steps, self._device)  # not this object, or nobody could ever free it
        return _launch.Kernels(launch, place, tensors, tuple(kernels), self._check, refused)


def only_kernels(plan: Plan) -> bool:
    """Whether all that `plan` does is to launch kernels on its arguments."""
    record = plan.record
    is_alone = not record.transient_bytes and not record.constants
    return is_alone and all(isinstance(step, Dispatch) for step in record.steps)


def _refused(steps: Sequence[tuple[PlanRecord, int]], device: int, number: int, status: int) -> None:
    """Gives a thread its context, so that launch `number` is repeated; raises LaunchError for any other error."""
    if status == INVALID_CONTEXT and driver.keep_context(device):
        return
    raise LaunchError(f"{where(*steps[number], device)}: {driver.described(driver.functions().CUresult(status))}")


def _launch_of(step: Any, kernel: Any, positions: tuple[int, ...]) -> tuple:
    """As the extension takes it."""
    bindings = tuple((positions[binding.buffer], binding.offset) for binding in step.bindings)
    return int(kernel), step.workgroups, step.threads, step.shared_bytes, step.words, bindings, table(step)
