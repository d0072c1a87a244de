"""Loads compiled regions and calls them on torch tensors, without copies, at a few microseconds a call."""

import atexit
import ctypes
import os
import threading
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import iree.runtime as iree
import torch
from iree.runtime._binding import create_hal_driver

from dovetail.backends.target import ALIGNMENT
from dovetail.runtime.checks.addresses import is_importable
from dovetail.runtime.launches.misfits import misfit
from dovetail.runtime.stats import count_copy

if TYPE_CHECKING:
    from dovetail.backends.compiling.outcomes import CompiledRegion


MAX_BINDINGS = 64
"""Sets of addresses that an executable remembers. Then it forgets all, so that fresh addresses can't fill memory."""

_ELEMENT_TYPES = {
    torch.bool: iree.HalElementType.BOOL_8,
    torch.int8: iree.HalElementType.SINT_8,
    torch.int16: iree.HalElementType.SINT_16,
    torch.int32: iree.HalElementType.SINT_32,
    torch.int64: iree.HalElementType.SINT_64,
    torch.uint8: iree.HalElementType.UINT_8,
    torch.float16: iree.HalElementType.FLOAT_16,
    torch.bfloat16: iree.HalElementType.BFLOAT_16,
    torch.float32: iree.HalElementType.FLOAT_32,
    torch.float64: iree.HalElementType.FLOAT_64,
}
IMPORTABLE_DTYPES = frozenset(_ELEMENT_TYPES)

_MEMORY_TYPE = iree.MemoryType.DEVICE_LOCAL | iree.MemoryType.HOST_VISIBLE
_USAGE = iree.BufferUsage.DEFAULT | iree.BufferUsage.MAPPING

_data_ptr = torch.Tensor.data_ptr
_no_results = iree.VmVariantList(0)

# What an empty tensor, which has no memory of its own, is imported as.
_nowhere = torch.empty(ALIGNMENT, dtype=torch.uint8, device="cpu")


def prepare(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor itself where IREE can import it, else a contiguous, aligned, detached copy: `is` tells which."""
    if is_importable(tensor):
        return tensor
    return torch.empty(tensor.shape, dtype=tensor.dtype, device=tensor.device).copy_(tensor.detach())


def ready(tensor: torch.Tensor) -> torch.Tensor:
    """`tensor`, or a copy of it that a compiled region can take, which counts."""
    if is_importable(tensor):
        return tensor
    count_copy("region input neither contiguous nor aligned")
    return prepare(tensor)


# What an argument is imported as: memory at an address, shape, dtype, IREE's name of the dtype.
_Layout = tuple[Callable[[int], ctypes.Array[ctypes.c_char]], torch.Size, torch.dtype, iree.HalElementType]


class Executable:
    """A compiled region, callable as `executable(*inputs, *destinations)`; returns when the destinations are written.

    Every tensor must have the shape and dtype that the region was compiled for and be importable (`prepare`). No
    destination may share memory with another argument: IREE may write it before that one was read. Gradients are not
    tracked. Threads may share an executable; calls of one executable run one after the other.

    Args:
        compiled: from `backends.compiling.iree.Compilation`.
        driver: "local-sync" runs on the calling thread, "local-task" on IREE's thread pool.
        name: what errors call this region.
    """

    def __init__(self, compiled: "CompiledRegion", driver: str, name: str):
        self.driver = driver
        self.name = name
        self.compiled = compiled
        self.start_anew()
        self._load()
        _executables.add(self)

    def start_anew(self) -> None:
        """Forgets what belongs to a process; the next call loads the region onto this one's device."""
        self._context: Any = None
        self._lock = threading.Lock()
        self._forget()

    def _load(self) -> None:
        device = _runtime.device(self.driver)
        module = iree.VmModule.copy_buffer(_runtime.instance, self.compiled.module)
        hal = iree.create_hal_module(_runtime.instance, device)
        self._context = iree.VmContext(_runtime.instance, [hal, module])
        self._function = module.lookup_function(self.compiled.entry)
        if self._function is None:
            raise LookupError(f"the module has no function '{self.compiled.entry}'")
        self._import = device.allocator.import_host_allocation

    def _forget(self) -> None:
        self._layouts: list[_Layout] = []
        self._bindings: dict[tuple[int, ...], iree.VmVariantList] = {}
        self._views: dict[tuple[int, int], iree.HalBufferView] = {}

    def __call__(self, *tensors: torch.Tensor) -> None:
        addresses = tuple(map(_data_ptr, tensors))
        with self._lock:
            try:
                arguments = self._bindings.get(addresses)
                if arguments is None:
                    arguments = self._bind(addresses, tensors)
                self._context.invoke(self._function, arguments, _no_results)
            except Exception as error:
                self._forget()  # a call of the wrong form must not spoil the next one
                error.add_note(f"while running region '{self.name}' on {self.driver}")
                raise

    def _bind(self, addresses: tuple[int, ...], tensors: tuple[torch.Tensor, ...]) -> iree.VmVariantList:
        """Imports without owning: a view only says "this shape and type at this address".

        It is used again when that argument has that address again, and then the caller holds a tensor that lives
        there. So a view can't dangle, and it keeps no memory alive.
        """
        if self._context is None:
            self._load()
        if len(self._bindings) >= MAX_BINDINGS:
            self._bindings = {}
            self._views = {}
        if not self._layouts:
            self._layouts = [self._layout(index, tensor) for index, tensor in enumerate(tensors)]
        views = self._views
        arguments = iree.VmVariantList(len(tensors))
        push = arguments.push_ref
        for position in enumerate(addresses):
            view = views.get(position)
            if view is None:
                view = views[position] = self._import_view(*position, tensors[position[0]])
            push(view)
        self._bindings[addresses] = arguments
        return arguments

    def _layout(self, index: int, tensor: torch.Tensor) -> _Layout:
        where = f"region '{self.name}', argument {index}"
        if not tensor.is_cpu:
            raise ValueError(f"{where}: got a tensor on {tensor.device}, expected cpu")
        if tensor.dtype not in _ELEMENT_TYPES:
            raise TypeError(f"{where}: got {tensor.dtype}, expected one of {sorted(map(str, IMPORTABLE_DTYPES))}")
        at_address = (ctypes.c_char * tensor.nbytes).from_address
        return at_address, tensor.shape, tensor.dtype, _ELEMENT_TYPES[tensor.dtype]

    def _import_view(self, index: int, address: int, tensor: torch.Tensor) -> iree.HalBufferView:
        # IREE only compares the first call's shapes and dtypes with the region's. What it is told wrongly, or does not
        # check, ends in reads and writes of the wrong memory.
        at_address, shape, dtype, element_type = self._layouts[index]
        if address % ALIGNMENT or not tensor.is_contiguous() or tensor.shape != shape or tensor.dtype is not dtype:
            layout = f"contiguous, aligned to {ALIGNMENT} bytes: use prepare()"
            raise misfit(self.name, index, tensor, f"{dtype}, shape {tuple(shape)}, {layout}")
        memory = at_address(address or _nowhere.data_ptr())
        return iree.HalBufferView(self._import(memory, _MEMORY_TYPE, _USAGE), shape, element_type)


class _Runtime:
    """This process's IREE instance and devices, made when first needed. A forked child starts with a new one."""

    def __init__(self) -> None:
        self.instance = iree.VmInstance()
        self._devices: dict[str, iree.HalDevice] = {}
        self._lock = threading.Lock()

    def device(self, driver: str) -> iree.HalDevice:
        with self._lock:
            if driver not in self._devices:
                # Uncached, because a cached driver of "local-task" brings the threads of the process that forked.
                self._devices[driver] = create_hal_driver(driver).create_default_device()
            return self._devices[driver]


_runtime = _Runtime()
_executables: weakref.WeakSet[Executable] = weakref.WeakSet()
# Objects of the parent process. Destroying them would join threads that don't exist here.
_abandoned: list[object] = []


def _start_anew_in_forked_child() -> None:
    global _runtime
    _abandoned.append(_runtime)
    _runtime = _Runtime()
    for executable in _executables:
        _abandoned.append(dict(vars(executable)))
        executable.start_anew()


def _release_at_exit() -> None:
    """Frees IREE's objects while the interpreter still can; compiled functions outlive every module's globals."""
    for executable in list(_executables):
        vars(executable).clear()
    vars(_runtime).clear()
    del globals()["_no_results"]


os.register_at_fork(after_in_child=_start_anew_in_forked_child)
atexit.register(_release_at_exit)
