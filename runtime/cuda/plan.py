"""Runs a region on a GPU: what a call needs is prepared once, a call looks at tensors and launches."""

import os
import threading
import weakref
from functools import partial

import torch

from dovetail.errors import LaunchError
from dovetail.runtime.cuda import driver
from dovetail.runtime.cuda.arguments import copied, device_of
from dovetail.runtime.cuda.library import Library
from dovetail.runtime.cuda.plan_record import PlanRecord
from dovetail.runtime.cuda.steps import Launched, Run, run_of
from dovetail.runtime.launches.plan_records import Dispatch


class Plan:
    """A region, callable as `plan(*inputs, *destinations)` on tensors of one GPU.

    The work goes to torch's current stream of the GPU, and nothing waits for it; so memory of torch's allocator needs
    no `record_stream` that eager would not need. Every tensor must be as the region declares it, else an error names
    region and argument before anything is written. Inputs that lie otherwise are copied, which counts.

    Any thread may call, several at once, inside of a graph's capture as well: nothing changes but what a call has.

    Raises:
        TypeError, ValueError: for arguments that do not fit.
        LaunchError: if the code can't be loaded onto the GPU, or the driver refuses a launch; it is said which.
    """

    def __init__(self, record: PlanRecord, library: Library):
        self.name = record.region
        self.library = library
        self.record = record
        self._lock = threading.RLock()
        self.start_anew()
        _plans.add(self)

    def start_anew(self) -> None:
        """Forgets what belongs to a process."""
        self._loaded: dict[int, Launched] = {}
        self._runs: dict[int, Run] = {}

    def __call__(self, *tensors: torch.Tensor) -> None:
        try:
            run = self._runs[tensors[-1].get_device()]
        except (AttributeError, IndexError, KeyError):  # the first call, or something is wrong
            run = self._prepare(device_of(self.record, tensors))
        run(*tensors)

    def loaded(self, device: int) -> Launched:
        """What there is to launch on a GPU, whose code is loaded there, once, for as long as the plan lives.

        Raises:
            LaunchError: if it can't be, or is none that the plan fits.
        """
        driver.refuse_forked_child()
        with self._lock:
            if device not in self._loaded:
                try:
                    self._loaded[device] = self._load(device)
                except LaunchError as error:
                    raise LaunchError(f"region '{self.name}': {error}") from error
            return self._loaded[device]

    def _load(self, device: int) -> Launched:
        steps, constants = self.record.steps, self.record.constants
        kernels = [int(self.library.kernel(device, step)) if isinstance(step, Dispatch) else 0 for step in steps]
        return Launched(self.record, tuple(kernels), self.library.constants(device, constants) if constants else 0)

    def _prepare(self, device: int) -> Run:
        launched = [(self.loaded(device), range(len(self.record.arguments)))]
        run = run_of(launched, len(self.record.arguments), device, partial(copied, self.record, device))
        self._runs[device] = run
        return run


_plans: weakref.WeakSet[Plan] = weakref.WeakSet()


def _forget_in_forked_child() -> None:
    for plan in _plans:
        plan.start_anew()


os.register_at_fork(after_in_child=_forget_in_forked_child)
