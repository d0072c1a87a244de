"""Runs a region on a GPU: what a call needs is prepared once, a call writes addresses and launches."""

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch

from dovetail.errors import LaunchError
from dovetail.runtime.cuda import driver, torch_streams
from dovetail.runtime.cuda.arguments import Arguments, device_of
from dovetail.runtime.cuda.library import Library, upload
from dovetail.runtime.cuda.plan_record import PlanRecord
from dovetail.runtime.launches.plan_records import Copy, Dispatch, Fill, table

INVALID_CONTEXT = 201
"""The driver's status for a thread that has used no GPU yet."""

Run = Callable[[Sequence[int], int], tuple]
"""Runs a step on buffers at some addresses, on the stream at an address; gives the driver's status, in a tuple."""

_data_ptr = torch.Tensor.data_ptr


class Plan:
    """A region, callable as `plan(*inputs, *destinations)` on tensors of one GPU.

    The work goes to torch's current stream of the GPU, and nothing waits for it; so memory of torch's allocator needs
    no `record_stream` that eager would not need. Every tensor must be as the region declares it, else an error names
    region and argument before anything is written. Inputs that lie otherwise are copied, which counts.

    Any thread may call, several at once, inside of a graph's capture as well: a call takes parameters that no other
    uses, and makes some where there are none.

    Raises:
        TypeError, ValueError: for arguments that do not fit.
        LaunchError: if the code can't be loaded onto the GPU, or the driver refuses a launch; it is said which.
    """

    def __init__(self, record: PlanRecord, library: Library):
        self.name = record.region
        self.library = library
        self.record = record
        self._lock = threading.Lock()
        self.start_anew()
        _plans.add(self)

    def start_anew(self) -> None:
        """Forgets what belongs to a process."""
        self._prepared: dict[int, Prepared] = {}

    def __call__(self, *tensors: torch.Tensor) -> None:
        record = self.record
        device = device_of(self.name, record.arguments, tensors)
        prepared = self._prepared.get(device) or self.prepare(device)
        addresses, copies = prepared.arguments.looked_at(tensors)
        if record.transient_bytes:
            copies.append(torch.empty(record.transient_bytes, dtype=torch.uint8, device=tensors[-1].device))
            addresses.append(_data_ptr(copies[-1]))
        else:
            addresses.append(0)
        addresses.append(prepared.constants)
        if torch_streams.current_device() == device:
            prepared.run(addresses)
        else:
            with driver.on(device):
                prepared.run(addresses)

    def prepare(self, device: int) -> "Prepared":
        """Loads the code onto a GPU, once; raises LaunchError if it can't be, or is none that the plan fits."""
        driver.refuse_forked_child()
        with self._lock:
            if device not in self._prepared:
                try:
                    self._prepared[device] = Prepared(self.record, self.library, device)
                except LaunchError as error:
                    raise LaunchError(f"region '{self.name}': {error}") from error
            return self._prepared[device]


class Prepared:
    """A plan on one GPU. `kernels` are the driver's, by step; `constants` is the address of its constants there."""

    def __init__(self, record: PlanRecord, library: Library, device: int):
        self._record = record
        self._device = device
        self.arguments = Arguments(record.region, record.arguments, device)
        self.kernels = [library.kernel(device, step) if isinstance(step, Dispatch) else None for step in record.steps]
        self.constants = upload(self, record.constants, device) if record.constants else 0
        self._idle: list[list[Run]] = [self._parameters()]

    def run(self, addresses: Sequence[int]) -> None:
        """Launches all on the GPU's current stream; its context must be the thread's."""
        try:
            runs = self._idle.pop()
        except IndexError:
            runs = self._parameters()
        stream = torch_streams.raw_stream(self._device)
        for index, run in enumerate(runs):
            status = run(addresses, stream)[0]
            if status:
                self._again(index, run, status, addresses, stream)
        self._idle.append(runs)

    def _again(self, index: int, run: Run, status: Any, addresses: Sequence[int], stream: int) -> None:
        """Repeats a step that a thread without a context was refused; raises LaunchError for any other error."""
        if int(status) == INVALID_CONTEXT:
            with driver.on(self._device):
                status = run(addresses, stream)[0]
        if int(status):
            raise LaunchError(f"{where(self._record, index, self._device)}: {driver.described(status)}")

    def _parameters(self) -> list[Run]:
        pairs = zip(self._record.steps, self.kernels, strict=True)
        return [_PREPARED[type(step)](step, kernel) for step, kernel in pairs]


def where(record: PlanRecord, index: int, device: int) -> str:
    """Which step of which region it is that the driver refuses."""
    step = record.steps[index]
    what = f"kernel '{step.entry}'" if isinstance(step, Dispatch) else type(step).__name__.lower()
    return f"region '{record.region}', step {index}, {what} on cuda:{device}"


def _launch(step: Dispatch[int], kernel: Any) -> Run:
    """Parameters lie in cells of 8 bytes, of which a word takes the first half; those of sets of bindings are one."""
    functions = driver.functions()
    config = functions.CUlaunchConfig()
    config.gridDimX, config.gridDimY, config.gridDimZ = step.workgroups
    config.blockDimX, config.blockDimY, config.blockDimZ = step.threads
    config.sharedMemBytes = step.shared_bytes
    addresses = table(step) or len(step.bindings)
    cells = (ctypes.c_uint64 * (addresses + len(step.words)))(*[0] * addresses, *step.words)
    starts = [*range(0, addresses, addresses if step.sets else 1), *range(addresses, len(cells))]
    pointers = (ctypes.c_void_p * len(starts))(*(ctypes.addressof(cells) + 8 * start for start in starts))
    indices = [(cell, binding.buffer, binding.offset) for cell, binding in enumerate(step.bindings)]
    launch, where = functions.cuLaunchKernelEx, ctypes.addressof(pointers)

    def run(addresses: Sequence[int], stream: int, _kept: object = pointers) -> tuple:
        for cell, buffer, offset in indices:
            cells[cell] = addresses[buffer] + offset
        config.hStream = stream
        return launch(config, kernel, where, 0)

    return run


def _fill(step: Fill[int], _: None) -> Run:
    """Eight bytes at a time are two columns of four: the driver knows no wider pattern."""
    functions, (buffer, offset, size), bits = driver.functions(), step.target, step.bits
    if step.width == 8:
        low, high, rows = bits & 0xFFFFFFFF, bits >> 32, size // 8

        def fill_columns(addresses: Sequence[int], stream: int) -> tuple:
            start = addresses[buffer] + offset
            first = functions.cuMemsetD2D32Async(start, 8, low, 1, rows, stream)
            return first if first[0] else functions.cuMemsetD2D32Async(start + 4, 8, high, 1, rows, stream)

        return fill_columns
    names = {1: functions.cuMemsetD8Async, 2: functions.cuMemsetD16Async, 4: functions.cuMemsetD32Async}
    fill, count = names[step.width], size // step.width
    return lambda addresses, stream: fill(addresses[buffer] + offset, bits, count, stream)


def _copy(step: Copy[int], _: None) -> Run:
    copy, (source, start, size), (target, to) = driver.functions().cuMemcpyDtoDAsync, step.source, step.target[:2]
    return lambda addresses, stream: copy(addresses[target] + to, addresses[source] + start, size, stream)


_PREPARED: dict[type, Callable[[Any, Any], Run]] = {Dispatch: _launch, Fill: _fill, Copy: _copy}

_plans: weakref.WeakSet[Plan] = weakref.WeakSet()


def _forget_in_forked_child() -> None:
    for plan in _plans:
        plan.start_anew()


os.register_at_fork(after_in_child=_forget_in_forked_child)
