"""Peak memory of a call on Linux with glibc, 2.33 or later, whoever allocates.

PyTorch's profiler sees only PyTorch's CPU allocator, neither the C++ that inductor generates nor IREE. The kernel sees
all: `VmHWM` is the largest resident set since the last reset, which writing 5 to `/proc/self/clear_refs` does. The
resident set follows what is alive if glibc maps every block of 64 KiB or more by itself and so returns it when freed.
It does that only for blocks which fit no hole in its heap, hence the holes are filled for the time of the measurement.
Resolution: some 0.3 MiB, because the kernel counts pages in batches per CPU; smaller blocks count only as far as they
need new pages. Memory that a library keeps for itself between calls is not growth.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

PROCESS = Path("/proc/self")
# From glibc's malloc.h.
M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
# Where glibc's own adjustment ends once a block of 32 MiB was freed. Setting a threshold ends the adjustment for good,
# so it is set for the whole run, lest the cases before the first measurement be timed under another allocator.
STEADY_BYTES = 32 << 20
MEASURED_BYTES = 64 << 10


class _Mallinfo2(ctypes.Structure):
    """What glibc's malloc holds; `fordblks` is its free bytes."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    )


_libc = ctypes.CDLL(None)
_libc.mallinfo2.restype = _Mallinfo2
_libc.malloc.restype = ctypes.c_void_p
_libc.free.argtypes = [ctypes.c_void_p]
_libc.sbrk.restype = ctypes.c_void_p


def settle_allocator() -> None:
    """Fixes glibc's thresholds at their steady state; call once before anything is timed."""
    _libc.mallopt(M_MMAP_THRESHOLD, STEADY_BYTES)
    _libc.mallopt(M_TRIM_THRESHOLD, 2 * STEADY_BYTES)


def peak_bytes(call: Callable[[], object]) -> int:
    """Median of three times how far the resident set rises above what was held before while `call` runs, in bytes."""
    with _heap_without_holes():
        call()
        return int(median(_growth(call) for _ in range(3)))


@contextmanager
def _heap_without_holes() -> Iterator[None]:
    """Large blocks are mapped one by one: takes, untouched, all the room that the heap has for blocks just smaller."""
    _libc.mallopt(M_MMAP_THRESHOLD, MEASURED_BYTES)
    end = _libc.sbrk(0)
    fillers = []
    # A thread whose allocation failed once takes its blocks elsewhere, and moves the heap's end no more.
    for _ in range(_libc.mallinfo2().fordblks // (MEASURED_BYTES - 4096) + 1):
        if _libc.sbrk(0) != end:
            break
        fillers.append(_libc.malloc(MEASURED_BYTES - 4096))
    try:
        yield
    finally:
        for filler in fillers:
            _libc.free(filler)
        settle_allocator()


def _growth(call: Callable[[], object]) -> int:
    _libc.malloc_trim(0)
    (PROCESS / "clear_refs").write_text("5")
    before = _status_bytes("VmRSS")
    call()
    return _status_bytes("VmHWM") - before


def _status_bytes(field: str) -> int:
    for line in (PROCESS / "status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"{PROCESS / 'status'} has no field {field}; peak memory is measured on Linux only")
