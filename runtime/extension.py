"""The C extension, as far as it can be used: it must have been built, and be shown this process's torch."""

import functools
import logging
from types import ModuleType

import torch

NO_THREADS = "libgomp.so.1, the OpenMP that PyTorch computes with, is not loaded"
log = logging.getLogger("dovetail")


@functools.cache
def _has_threads() -> bool:
    """Shows this process's torch to the extension; whether that could find the threads of torch's OpenMP."""
    from dovetail.runtime import _launch

    return _launch.attach(torch.Tensor, torch.Tensor.__dlpack_c_exchange_api__, torch.get_num_threads)


@functools.cache
def unusable() -> str:
    """Why the extension can't be used in this process, which is said once, too; "" if it can."""
    try:
        if not _has_threads():
            log.warning("%s: plans run on one thread, and slower: docs/launch-plans.md", NO_THREADS)
    except (ImportError, AttributeError, ValueError) as error:
        reason = f"the extension that launches plans can't be used: {error}"
        log.warning(
            "%s; regions run through iree.runtime, on a GPU step by step, and slower: docs/launch-plans.md", reason
        )
        return reason
    return ""


def unthreaded() -> str:
    """Why the extension, if it can be used, runs plans on one thread; "" if it does not."""
    return "" if unusable() or _has_threads() else NO_THREADS


@functools.cache
def extension() -> ModuleType | None:
    """The extension, None where it can't be used."""
    if unusable():
        return None
    from dovetail.runtime import _launch

    return _launch
