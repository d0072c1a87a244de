"""Regions as the extension takes them, which launches all their steps on a GPU; without it, Python does the same."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from dovetail.backends.target import ALIGNMENT_ON_GPUS
from dovetail.errors import LaunchError
from dovetail.runtime.cuda import driver, torch_streams
from dovetail.runtime.cuda.plan_record import PlanRecord
from dovetail.runtime.cuda.steps_in_python import COPY, DISPATCH, FILL, Steps
from dovetail.runtime.extension import extension
from dovetail.runtime.launches.element_types import kind_of
from dovetail.runtime.launches.plan_records import Copy, Dispatch, Fill, Range, Step, table

_CUDA = 2
"""DLPack's number of this type of device."""

MOST_WORKGROUPS = (2**31 - 1, 65535, 65535)
"""Of a launch, in x, y and z, on every GPU that regions are compiled for."""

Run = Callable[..., bool]
"""Runs regions on tensors; tells whether it did."""


@dataclass(frozen=True)
class Launched:
    """A region on one GPU: of each step the driver's kernel, 0 where it is none, and where its constants lie, or 0."""

    record: PlanRecord
    kernels: tuple[int, ...]
    constants: int


def run_of(
    regions: Sequence[tuple[Launched, Sequence[int]]],
    count: int,
    device: int,
    misfit: Callable[[int, Any], torch.Tensor | None],
    check: Callable[[bytes], None] | None = None,
) -> Run:
    """What runs regions one after the other on `count` tensors, each on those at its positions, on a GPU.

    The work goes to torch's current stream. A tensor that a region can't take where it lies is `misfit(index, given)`
    instead; where that is None, nothing runs. Neither does anything where `check`, which sees the addresses, raises.

    Raises:
        LaunchError: if a step is none that a GPU can run; by a call, if the driver refuses one. It is said which.
    """
    expected: dict[int, tuple] = {}
    steps: list[tuple] = []
    constants = []
    for number, (launched, positions) in enumerate(regions):
        record = launched.record
        for position, (dtype, shape, is_written) in zip(positions, record.arguments, strict=True):
            kind = kind_of(str(dtype).removeprefix("torch."))
            expected[position] = shape, kind, dtype.itemsize * 8, False, is_written and check is None
        buffers = [*positions, count, count + 1 + number]
        for index, step in enumerate(record.steps):
            if isinstance(step, Dispatch) and any(map(operator.gt, step.workgroups, MOST_WORKGROUPS)):
                most = f"{step.workgroups} workgroups, expected at most {MOST_WORKGROUPS}"
                raise LaunchError(f"{where(record, index)} cuda:{device}: {most}")
        pairs = zip(record.steps, launched.kernels, strict=True)
        steps += [_step(step, kernel, buffers) for step, kernel in pairs]
        constants.append((launched.constants, len(record.constants)))
    transient_bytes = max(launched.record.transient_bytes for launched, _ in regions)
    names = [f"region '{launched.record.region}'" for launched, _ in regions]
    of_steps = [where(launched.record, index) for launched, _ in regions for index in range(len(launched.kernels))]
    made = extension()
    whole = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} others"
    asked = (
        torch_streams.raw_stream,
        partial(torch_streams.allocate_bytes, transient_bytes, device),
        misfit,
        check,
        partial(_refused, whole, of_steps, device),
    )
    try:
        return (made.Steps if made else Steps)(
            whole,
            driver.step_functions(),
            driver.context(device),
            (_CUDA, device, ALIGNMENT_ON_GPUS),
            tuple(expected[position] for position in range(count)),
            transient_bytes,
            tuple(constants),
            tuple(steps),
            asked,
        )
    except (OverflowError, TypeError, ValueError) as error:  # what the extension reads is no plan
        raise LaunchError(f"{whole}: {error}") from error


def _step(step: Step[int], kernel: int, buffers: Sequence[int]) -> tuple:
    """As the extension takes it, whose buffers are those of all regions."""

    def ranges(*given: Range[int]) -> tuple:
        return tuple((buffers[each.buffer], each.offset, each.size) for each in given)

    match step:
        case Dispatch():
            sizes = step.workgroups, step.threads, step.shared_bytes
            return DISPATCH, kernel, *sizes, step.words, ranges(*step.bindings), table(step), step.waits
        case Fill():
            return FILL, ranges(step.target), step.bits, step.width
        case Copy():
            return COPY, ranges(step.source, step.target)


def where(record: PlanRecord, index: int) -> str:
    """Which step of which region it is that the driver refuses."""
    step = record.steps[index]
    what = f"kernel '{step.entry}'" if isinstance(step, Dispatch) else type(step).__name__.lower()
    return f"region '{record.region}', step {index}, {what} on"


def _refused(name: str, steps: Sequence[str], device: int, number: int, status: int) -> None:
    """Raises LaunchError for a status of step `number`, or of making the GPU the thread's where that is negative."""
    at = steps[number] if number >= 0 else f"{name}, making the thread's device"
    try:
        said = driver.described(driver.functions().CUresult(status))
    except ValueError:  # newer than the bindings
        said = f"status {status}"
    raise LaunchError(f"{at} cuda:{device}: {said}")
