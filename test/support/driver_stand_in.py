"""Stands in for the CUDA driver, and for tensors on a GPU, where there is none: notes every call, runs nothing."""

import ctypes
import enum
import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from dovetail.runtime.cuda import driver, library, steps, torch_streams
from dovetail.runtime.cuda.steps_in_python import LaunchConfiguration
from dovetail.runtime.extension import extension


class Status(enum.IntEnum):
    SUCCESS = 0
    OUT_OF_MEMORY = 2
    INVALID_VALUE = 1
    INVALID_CONTEXT = 201
    NO_BINARY_FOR_GPU = 209
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700


class OnDevice(torch.Tensor):
    """A tensor of the CPU that says that it is on a GPU, number `number`."""

    number = 0

    def get_device(self) -> int:
        return self.number

    def __dlpack_device__(self) -> tuple[int, int]:
        return steps._CUDA, self.number


def on_device(tensor: torch.Tensor, number: int = 0) -> torch.Tensor:
    """`tensor` as one on a GPU; shares its memory."""
    made = tensor.as_subclass(OnDevice)
    made.number = number
    return made


@dataclass
class Kernel:
    """A kernel of the stand-in's: `parameters` are their sizes in bytes."""

    name: str
    parameters: tuple[int, ...]
    local_bytes: int = 0

    def __int__(self) -> int:
        return id(self)


_POINTER, _COUNT, _WORD = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint
_FUNCTIONS = {
    "cuLaunchKernelEx": (_POINTER, _POINTER, _POINTER, _POINTER),
    "cuMemsetD8Async": (_POINTER, ctypes.c_ubyte, _COUNT, _POINTER),
    "cuMemsetD16Async": (_POINTER, ctypes.c_ushort, _COUNT, _POINTER),
    "cuMemsetD32Async": (_POINTER, _WORD, _COUNT, _POINTER),
    "cuMemsetD2D32Async": (_POINTER, _COUNT, _WORD, _COUNT, _COUNT, _POINTER),
    "cuMemcpyDtoDAsync": (_POINTER, _POINTER, _COUNT, _POINTER),
    "cuCtxGetDevice": (_POINTER,),
    "cuCtxGetCurrent": (_POINTER,),
    "cuCtxSetCurrent": (_POINTER,),
}
"""What C calls by its address, with the types of its parameters."""


@dataclass
class StandIn:
    """What `cuda.bindings.driver` has of what is used; `calls` are the names and arguments in order.

    `kernels` are those of any code that is loaded; `refusals` gives, by function, statuses for its next calls.
    """

    kernels: Sequence[Kernel] = ()
    calls: list[tuple] = field(default_factory=list)
    refusals: dict[str, list[Status]] = field(default_factory=dict)
    context: int = 0
    stream: int = 77
    device: int = 0
    version: int = 13000
    CUresult = Status
    CUfunction_attribute = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES="local", CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="shared"
    )
    CUjit_option = SimpleNamespace(CU_JIT_ERROR_LOG_BUFFER="log", CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES="size")
    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED="relaxed")
    CUstream_flags = SimpleNamespace(CU_STREAM_NON_BLOCKING=1)

    def __post_init__(self) -> None:
        self._addresses = itertools.count(1 << 20, 1 << 12)
        self._by_address = {
            name: ctypes.CFUNCTYPE(ctypes.c_int, *types)(functools.partial(self._called, name))
            for name, types in _FUNCTIONS.items()
        }

    def names(self) -> list[str]:
        """What was called, without what only asks or changes the thread's state."""
        quiet = ("cuCtx", "cuThread", "cuGet", "cuFunc", "cuDevice", "cuModule", "cuStream")
        return [call[0] for call in self.calls if not call[0].startswith(quiet)]

    def launches(self) -> list[tuple]:
        """Of each launch: the kernel, the workgroups, the threads, shared memory, the stream, the parameters."""
        return [call[1:-1] for call in self.calls if call[0] == "cuLaunchKernelEx"]

    def overlaps(self) -> list[bool]:
        """Of each launch whether it may begin while the one before it runs."""
        return [call[-1] for call in self.calls if call[0] == "cuLaunchKernelEx"]

    def cuGetProcAddress(self, name: bytes, version: int, flags: int) -> tuple:
        if name.decode() not in self._by_address:
            return Status.NOT_FOUND, 0, None
        return Status.SUCCESS, ctypes.cast(self._by_address[name.decode()], ctypes.c_void_p).value, None

    def _called(self, name: str, *given: int) -> int:
        """A function, as C calls it."""
        if name == "cuLaunchKernelEx":
            return int(self.launch(*given)[0])
        if name == "cuCtxGetDevice":
            ctypes.c_int.from_address(given[0]).value = self.context - 1000
            return Status.SUCCESS if self.context else Status.INVALID_CONTEXT
        if name == "cuCtxGetCurrent":
            ctypes.c_uint64.from_address(given[0]).value = self.context
            return Status.SUCCESS
        return int(self.cuCtxSetCurrent(*given)[0] if name == "cuCtxSetCurrent" else self._noted(name, *given)[0])

    def launch(self, configuration: int, kernel: int, where: int, _: int) -> tuple:
        stated = LaunchConfiguration.from_address(configuration)
        *sizes, shared_bytes = stated.sizes
        attributes = [stated.attributes[index] for index in range(stated.attribute_count)]
        assert all((each.number, each.value[0]) == (6, 1) for each in attributes)
        [found] = [each for each in self.kernels if id(each) == kernel]
        pointers = (ctypes.c_void_p * len(found.parameters)).from_address(where)
        kinds = {8: ctypes.c_uint64, 4: ctypes.c_uint32}
        values = [
            kinds[min(size, 8)].from_address(at + start).value
            for size, at in zip(found.parameters, pointers, strict=True)
            for start in range(0, size, 8)
        ]
        grid, block = tuple(sizes[:3]), tuple(sizes[3:])
        launched = found.name, grid, block, shared_bytes, stated.stream, values
        return self._noted("cuLaunchKernelEx", *launched, bool(attributes))

    def cuDriverGetVersion(self) -> tuple:
        return Status.SUCCESS, self.version

    def cuModuleGetFunction(self, module: int, name: bytes) -> tuple:
        found = [kernel for kernel in self.kernels if kernel.name == name.decode()]
        status = Status.SUCCESS if found else Status.NOT_FOUND
        return (status, *self._noted("cuModuleGetFunction", module, name)[1:], found[0] if found else None)

    def cuFuncGetParamInfo(self, kernel: Kernel, index: int) -> tuple:
        if index >= len(kernel.parameters):
            return Status.INVALID_VALUE, 0, 0
        return Status.SUCCESS, 8 * index, kernel.parameters[index]

    def cuFuncGetAttribute(self, attribute: str, kernel: Kernel) -> tuple:
        return Status.SUCCESS, kernel.local_bytes

    def cuCtxGetCurrent(self) -> tuple:
        return Status.SUCCESS, self.context

    def cuCtxSetCurrent(self, context: int) -> tuple:
        self.context = context
        return self._noted("cuCtxSetCurrent", context)

    def cuDeviceGet(self, device: int) -> tuple:
        return Status.SUCCESS, device

    def cuDevicePrimaryCtxRetain(self, device: int) -> tuple:
        return *self._noted("cuDevicePrimaryCtxRetain", device), 1000 + device

    def cuThreadExchangeStreamCaptureMode(self, mode: str) -> tuple:
        return *self._noted("cuThreadExchangeStreamCaptureMode", mode), "before"

    def cuMemAlloc(self, size: int) -> tuple:
        return *self._noted("cuMemAlloc", size), next(self._addresses)

    def cuStreamCreate(self, kind: int) -> tuple:
        return Status.SUCCESS, 5

    def cuModuleLoadDataEx(self, code: bytes, count: int, options: list, values: list) -> tuple:
        return *self._noted("cuModuleLoadDataEx", code), len(self.calls)

    def cuGetErrorName(self, status: Status) -> tuple:
        return Status.SUCCESS, f"CUDA_ERROR_{status.name}".encode()

    def cuGetErrorString(self, status: Status) -> tuple:
        return Status.SUCCESS, status.name.lower().replace("_", " ").encode()

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            raise AttributeError(name)
        return lambda *arguments: self._noted(name, *arguments)

    def _noted(self, name: str, *arguments: Any) -> tuple:
        self.calls.append((name, *arguments))
        waiting = self.refusals.get(name)
        return (waiting.pop(0) if waiting else Status.SUCCESS,)


EXTENSION, PYTHON = "extension", "python"


def stand_in(monkeypatch: pytest.MonkeyPatch, *kernels: Kernel, launched_by: str = PYTHON) -> StandIn:
    """Puts a stand-in with `kernels` in the driver's place for a test.

    The extension reads memory, so a GPU's tensors are then the CPU's, and there is one device.
    """
    made = StandIn(kernels)
    if launched_by == EXTENSION:
        assert extension()
        monkeypatch.setattr(steps, "_CUDA", 1)
    else:
        monkeypatch.setattr(steps, "extension", lambda: None)
    monkeypatch.setattr(driver, "_context", functools.cache(driver._context.__wrapped__))
    monkeypatch.setattr(driver, "functions", lambda: made)
    monkeypatch.setattr(driver, "_forked_from", None)
    monkeypatch.setattr(library, "_libraries", {})
    monkeypatch.setattr(torch_streams, "allocate_bytes", lambda count, device: torch.empty(count, dtype=torch.uint8))
    monkeypatch.setattr(torch_streams, "raw_stream", lambda device: made.stream + device)
    monkeypatch.setattr(torch_streams, "current_device", lambda: made.device)
    return made
