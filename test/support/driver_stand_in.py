"""Stands in for the CUDA driver, and for tensors on a GPU, where there is none: notes every call, runs nothing."""

import ctypes
import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from dovetail.runtime.cuda import driver, library, torch_streams


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


_LAUNCH = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, *[ctypes.c_uint] * 7, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)


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
    CUlaunchConfig = SimpleNamespace
    CUresult = Status
    CUfunction_attribute = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES="local", CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="shared"
    )
    CUjit_option = SimpleNamespace(CU_JIT_ERROR_LOG_BUFFER="log", CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES="size")
    CUstreamCaptureMode = SimpleNamespace(CU_STREAM_CAPTURE_MODE_RELAXED="relaxed")
    CUstream_flags = SimpleNamespace(CU_STREAM_NON_BLOCKING=1)

    def __post_init__(self) -> None:
        self._addresses = itertools.count(1 << 20, 1 << 12)
        self._launch = _LAUNCH(self._launched)

    def names(self) -> list[str]:
        """What was called, without what only asks or changes the thread's state."""
        quiet = ("cuCtx", "cuThread", "cuGet", "cuFunc", "cuDevice", "cuModule", "cuStream")
        return [call[0] for call in self.calls if not call[0].startswith(quiet)]

    def launches(self) -> list[tuple]:
        """Of each launch: the kernel, the workgroups, the threads, shared memory, the stream, the parameters."""
        return [call[1:] for call in self.calls if call[0] == "cuLaunchKernelEx"]

    def cuLaunchKernelEx(self, config: Any, kernel: Kernel, where: int, extra: int) -> tuple:
        pointers = (ctypes.c_void_p * len(kernel.parameters)).from_address(where)
        kinds = {8: ctypes.c_uint64, 4: ctypes.c_uint32}
        given = [
            kinds[min(size, 8)].from_address(at + start).value
            for size, at in zip(kernel.parameters, pointers, strict=True)
            for start in range(0, size, 8)
        ]
        grid = (config.gridDimX, config.gridDimY, config.gridDimZ)
        block = (config.blockDimX, config.blockDimY, config.blockDimZ)
        return self._noted("cuLaunchKernelEx", kernel.name, grid, block, config.sharedMemBytes, config.hStream, given)

    def cuGetProcAddress(self, name: bytes, version: int, flags: int) -> tuple:
        if name != b"cuLaunchKernel":
            return Status.NOT_FOUND, 0, None
        return Status.SUCCESS, ctypes.cast(self._launch, ctypes.c_void_p).value, None

    def _launched(self, kernel: int, *given: int) -> int:
        """`cuLaunchKernel`, as C calls it; noted as the other is."""
        *sizes, shared_bytes, stream, where, extra = given
        names = [f"{what}Dim{axis}" for what in ("grid", "block") for axis in "XYZ"]
        config = self.CUlaunchConfig(
            **dict(zip(names, sizes, strict=True)), sharedMemBytes=shared_bytes, hStream=stream
        )
        [found] = [each for each in self.kernels if id(each) == kernel]
        return int(self.cuLaunchKernelEx(config, found, where, extra or 0)[0])

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


def stand_in(monkeypatch: pytest.MonkeyPatch, *kernels: Kernel) -> StandIn:
    """Puts a stand-in with `kernels` in the driver's place for a test."""
    made = StandIn(kernels)
    driver._context.cache_clear()
    monkeypatch.setattr(driver, "functions", lambda: made)
    monkeypatch.setattr(driver, "_forked_from", None)
    monkeypatch.setattr(library, "_libraries", {})
    monkeypatch.setattr(torch_streams, "raw_stream", lambda device: made.stream + device)
    monkeypatch.setattr(torch_streams, "current_device", lambda: made.device)
    return made
