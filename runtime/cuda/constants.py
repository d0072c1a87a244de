"""A plan's constants in a GPU's memory."""

import weakref
from typing import Any

from dovetail.runtime.cuda import driver


def upload(owner: object, contents: bytes, device: int) -> int:
    """The address of a copy of `contents` on a GPU, there until `owner` dies and no kernel runs that may read it.

    Any stream may read it from now on, also while a graph is being captured. So it is no memory of torch's allocator,
    which belongs to a stream.
    """
    functions = driver.functions()
    what = f"uploading {len(contents)} bytes to cuda:{device}"
    with driver.on(device), driver.loading():
        address = driver.checked(functions.cuMemAlloc(len(contents)), what)
        weakref.finalize(owner, _free, address, device).atexit = False
        kind = functions.CUstream_flags.CU_STREAM_NON_BLOCKING
        stream = driver.checked(functions.cuStreamCreate(kind), what)
        driver.checked(functions.cuMemcpyHtoDAsync(address, contents, len(contents), stream), what)
        driver.checked(functions.cuStreamSynchronize(stream), what)
        driver.checked(functions.cuStreamDestroy(stream), what)
    return int(address)


def _free(address: Any, device: int) -> None:
    """The driver waits for the kernels that run; a refusal ends in `sys.unraisablehook`."""
    with driver.on(device), driver.loading():
        driver.checked(driver.functions().cuMemFree(address), f"giving back constants on cuda:{device}")
