"""What plans need on each GPU that runs them: compiled code, a cubin or PTX, and constants."""

import hashlib
import threading
from collections.abc import Iterable
from typing import Any

import torch

from dovetail.backends.cuda.assembler import MOST_LOCAL_BYTES
from dovetail.errors import LaunchError
from dovetail.runtime.cuda import driver
from dovetail.runtime.launches.plan_records import Dispatch, table

_LOG_BYTES = 4096
_NO_SUCH_PARAMETER = 1
"""CUDA_ERROR_INVALID_VALUE, behind the last one."""

_libraries: dict[str, "Library"] = {}
_loading = threading.Lock()


def load_library(code: bytes) -> "Library":
    """The one library of `code`. It stays loaded as long as the process lives, as PyTorch's kernels do."""
    key = hashlib.sha256(code).hexdigest()
    with _loading:
        return _libraries.setdefault(key, Library(code))


def check_on_gpu(code: bytes, dispatches: Iterable[Dispatch], device: int) -> None:
    """Raises LaunchError if a GPU, where this machine has it, can't load `code` or should not run `dispatches`.

    Their numbers may be open.
    """
    if torch.cuda.is_available() and device < torch.cuda.device_count():
        load_library(code).check(device, dispatches)


class Library:
    """Kernels, by name and device, and constants: a graph of the user may read both for ever."""

    def __init__(self, code: bytes):
        self.code = code
        self._modules: dict[int, Any] = {}
        self._constants: dict[tuple[int, str], int] = {}
        self._lock = threading.RLock()

    def check(self, device: int, dispatches: Iterable[Dispatch]) -> None:
        """Raises LaunchError if the code can't be loaded onto `device`, or no kernel fits one of `dispatches`."""
        with driver.on(device):
            for dispatch in dispatches:
                self._fitting(device, dispatch)

    def kernel(self, device: int, dispatch: Dispatch[int]) -> Any:
        """The driver's handle of what `dispatch` launches, ready for as much shared memory as it asks for.

        Raises:
            LaunchError: if the code can't be loaded, has no such kernel, or one with other parameters.
        """
        functions, name = driver.functions(), dispatch.entry
        with driver.on(device):
            kernel = self._fitting(device, dispatch)
            attribute = functions.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            outcome = functions.cuFuncSetAttribute(kernel, attribute, dispatch.shared_bytes)
            driver.checked(outcome, f"kernel '{name}' asks for {dispatch.shared_bytes} bytes of shared memory")
        return kernel

    def constants(self, device: int, contents: bytes) -> int:
        """The address of a copy of `contents` on a GPU, one for all plans, which stays there as the code does.

        Raises:
            LaunchError: if there is no memory.
        """
        key = device, hashlib.sha256(contents).hexdigest()
        with self._lock:
            if key not in self._constants:
                self._constants[key] = _upload(contents, device)
            return self._constants[key]

    def _fitting(self, device: int, dispatch: Dispatch) -> Any:
        name = dispatch.entry
        outcome = driver.functions().cuModuleGetFunction(self._module(device), name.encode())
        kernel = driver.checked(outcome, f"looking for kernel '{name}'")
        _check_parameters(kernel, dispatch)
        _refuse_spills(kernel, name)
        return kernel

    def _module(self, device: int) -> Any:
        with self._lock:
            if device not in self._modules:
                driver.refuse_old()
                with driver.loading():
                    self._modules[device] = _load(self.code, device)
            return self._modules[device]


def _load(code: bytes, device: int) -> Any:
    """Loads `code` onto the current device; PTX is assembled by the driver."""
    functions = driver.functions()
    option = functions.CUjit_option
    log = bytes(_LOG_BYTES)  # the bindings take nothing else, and the driver writes into it
    options = [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    outcome = functions.cuModuleLoadDataEx(code + b"\0", 2, options, [log, _LOG_BYTES])
    text = " ".join(log.split(b"\0")[0].decode(errors="replace").split())
    said = f" ({text})" if text else ""
    kind = "machine code" if code.startswith(b"\x7fELF") else "PTX"
    return driver.checked(outcome, f"{kind} can't be loaded onto cuda:{device}{said}")


def _check_parameters(kernel: Any, dispatch: Dispatch) -> None:
    """Raises LaunchError unless `kernel` takes the bindings and the words: it would read foreign memory else."""
    functions = driver.functions()
    found: list[int] = []
    while int((outcome := functions.cuFuncGetParamInfo(kernel, len(found)))[0]) != _NO_SUCH_PARAMETER:
        found.append(driver.checked(outcome, f"asking for the parameters of '{dispatch.entry}'")[1])
    addresses = [8 * table(dispatch)] if dispatch.sets else [8] * len(dispatch.bindings)
    expected = addresses + [4] * len(dispatch.words)
    if found != expected:
        raise LaunchError(f"kernel '{dispatch.entry}' takes parameters of {found} bytes, the plan gives {expected}")


def _refuse_spills(kernel: Any, name: str) -> None:
    functions = driver.functions()
    attribute = functions.CUfunction_attribute.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES
    spilt = driver.checked(functions.cuFuncGetAttribute(attribute, kernel), f"asking for the memory of '{name}'")
    if spilt > MOST_LOCAL_BYTES:
        raise LaunchError(
            f"kernel '{name}' keeps {spilt} bytes a thread in local memory, expected at most {MOST_LOCAL_BYTES}"
        )


def _upload(contents: bytes, device: int) -> int:
    """The address of a copy of `contents` on a GPU.

    Any stream may read it from now on, also while a graph is being captured. So it is no memory of torch's allocator,
    which belongs to a stream.
    """
    functions = driver.functions()
    what = f"uploading {len(contents)} bytes to cuda:{device}"
    with driver.on(device), driver.loading():
        address = driver.checked(functions.cuMemAlloc(len(contents)), what)
        kind = functions.CUstream_flags.CU_STREAM_NON_BLOCKING
        stream = driver.checked(functions.cuStreamCreate(kind), what)
        driver.checked(functions.cuMemcpyHtoDAsync(address, contents, len(contents), stream), what)
        driver.checked(functions.cuStreamSynchronize(stream), what)
        driver.checked(functions.cuStreamDestroy(stream), what)
    return int(address)
