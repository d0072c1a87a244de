"""The C extension, as far as it can be used: it must have been built, and be shown this process's torch."""

import functools
import logging
from types import ModuleType

import torch

log = logging.getLogger("dovetail")


@functools.cache
def unusable() -> str:
    """Why the extension can't be used in this process, which is said once, too; "" if it can."""
    try:
        from dovetail.runtime import _launch

        _launch.attach(torch.Tensor, torch.Tensor.__dlpack_c_exchange_api__, torch.get_num_threads)
    except (ImportError, AttributeError, ValueError) as error:
        reason = f"the extension that launches plans can't be used: {error}"
        log.warning(
            "%s; regions run through iree.runtime, on a GPU step by step, and slower: docs/launch-plans.md", reason
        )
        return reason
    return ""


@functools.cache
def extension() -> ModuleType | None:
    """The extension, None where it can't be used."""
    if unusable():
        return None
    from dovetail.runtime import _launch

    return _launch
