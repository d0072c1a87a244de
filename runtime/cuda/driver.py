"""The CUDA driver's functions, by cuda-bindings, which is not imported before the first of them is needed.

PyTorch's builds for CUDA require that package; those for the CPU lack it, and never come here.
"""

import functools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from dovetail.errors import LaunchError

_STICKY = frozenset(
    f"CUDA_ERROR_{name}"
    for name in (
        "ASSERT", "CONTEXT_IS_DESTROYED", "ECC_UNCORRECTABLE", "EXTERNAL_DEVICE", "HARDWARE_STACK_ERROR",
        "ILLEGAL_ADDRESS", "ILLEGAL_INSTRUCTION", "INVALID_ADDRESS_SPACE", "INVALID_PC", "LAUNCH_FAILED",
        "LAUNCH_TIMEOUT", "MISALIGNED_ADDRESS", "NVLINK_UNCORRECTABLE",
    )
)  # fmt: skip
"""Errors of kernels: each call of the driver in the process reports such a one from then on."""

_VERSION = 11080
"""CUDA 11.8, whose form of functions is asked for: the first one with `cuLaunchKernelEx`."""
_LEAST_DRIVER = 12040
"""CUDA 12.4, the first one that tells a kernel's parameters; from 12.3 on graphs take launches that overlap."""
_LEGACY_STREAM = 1
"""Stream 0 is the one that all threads share, as torch takes it to be."""

_forked_from: int | None = None


@functools.cache
def functions() -> ModuleType:
    """The module `cuda.bindings.driver`; raises LaunchError where it can't be imported."""
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise LaunchError(f"regions for CUDA are launched through cuda-bindings, which fails: {error}") from error
    return driver


def address_of(name: str) -> int:
    """Where the driver's function `name` lies, which takes streams as torch does; raises LaunchError if it has none."""
    driver = functions()
    found = checked(driver.cuGetProcAddress(name.encode(), _VERSION, _LEGACY_STREAM), f"looking for '{name}'")
    return int(found[0])


def step_functions() -> tuple[int, ...]:
    """Where the functions lie that run steps, in the order of `native/interfaces.h`."""
    names = "LaunchKernelEx MemsetD8Async MemsetD16Async MemsetD32Async MemsetD2D32Async MemcpyDtoDAsync".split()
    return tuple(address_of(f"cu{name}") for name in [*names, "CtxGetDevice", "CtxGetCurrent", "CtxSetCurrent"])


def refuse_old() -> None:
    """Raises LaunchError if the driver lacks what launching takes."""
    found = checked(functions().cuDriverGetVersion(), "asking for the driver's version")
    if found < _LEAST_DRIVER:
        least, has = (f"{version // 1000}.{version % 1000 // 10}" for version in (_LEAST_DRIVER, found))
        raise LaunchError(f"needs a driver for CUDA {least} or later, this one is for {has}")


def context(device: int) -> int:
    """The handle of `device`'s context, which torch uses as well."""
    return int(_context(device))


def checked(outcome: tuple, what: str) -> Any:
    """What a function of the driver gave; raises LaunchError, which begins with `what`, unless it succeeded."""
    status, *given = outcome
    if int(status):
        raise LaunchError(f"{what}: {described(status)}")
    return given[0] if len(given) == 1 else given


def described(status: Any) -> str:
    """A status of the driver's in words, with what to do about one that every later call repeats."""
    driver = functions()
    (_, name), (_, text) = driver.cuGetErrorName(status), driver.cuGetErrorString(status)
    name, text = (each.decode() if isinstance(each, bytes) else f"status {int(status)}" for each in (name, text))
    if name not in _STICKY:
        return f"{name}, {text}"
    return (
        f"{name}, {text}; a kernel that was launched before failed, of Dovetail's or another's, and the driver refuses"
        " this process all further work: start it anew, with CUDA_LAUNCH_BLOCKING=1 to see which kernel it is"
    )


@contextmanager
def on(device: int) -> Iterator[None]:
    """Makes `device`'s context, which torch uses as well, the calling thread's; a thread that had none keeps it."""
    driver = functions()
    previous = checked(driver.cuCtxGetCurrent(), "asking for the thread's CUDA context")
    checked(driver.cuCtxSetCurrent(_context(device)), f"making cuda:{device} the thread's device")
    try:
        yield
    finally:
        if int(previous):
            checked(driver.cuCtxSetCurrent(previous), "giving the thread its CUDA device back")


@contextmanager
def loading() -> Iterator[None]:
    """Lets code be loaded while a graph is being captured: it belongs to no stream."""
    driver = functions()
    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    what = "changing the thread's capture mode"
    previous = checked(driver.cuThreadExchangeStreamCaptureMode(relaxed), what)
    try:
        yield
    finally:
        checked(driver.cuThreadExchangeStreamCaptureMode(previous), what)


def refuse_forked_child() -> None:
    """Raises LaunchError in the child of a process that had used the driver by then: nothing of it works there."""
    if _forked_from is not None:
        raise LaunchError(
            f"process {os.getpid()} was forked from {_forked_from} after that had used CUDA, which can't be used here:"
            " start processes that use CUDA by multiprocessing's 'spawn' or 'forkserver'"
        )


@functools.cache
def _context(device: int) -> Any:
    """Retained as long as the process lives, as torch does."""
    refuse_forked_child()
    driver = functions()
    handle = checked(driver.cuDeviceGet(device), f"looking for cuda:{device}")
    return checked(driver.cuDevicePrimaryCtxRetain(handle), f"starting cuda:{device}")


def _note_fork() -> None:
    global _forked_from
    if _context.cache_info().currsize:
        _forked_from = os.getppid()
        _context.cache_clear()


os.register_at_fork(after_in_child=_note_fork)
