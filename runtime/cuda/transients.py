"""Memory for what regions hold while they run, found before the first of several that update arguments."""

from collections.abc import Callable, Mapping, Sequence

import torch

from dovetail.runtime.cuda import torch_streams
from dovetail.runtime.cuda.plan import Plan


def reservation(executables: Mapping[str, Callable], device: str, names: Sequence[str]) -> Callable[[], None] | None:
    """What raises if there is no memory for the transients of all regions `names`, which run one after the other.

    PyTorch's allocator keeps it for those who ask on the same stream. None where none after the first has any: it asks
    before it writes. Of open sizes only the call tells.
    """
    plans = [executables[name] for name in names if name in executables]
    sizes = [plan.record.transient_bytes if isinstance(plan, Plan) else 0 for plan in plans]
    if not any(sizes[1:]):
        return None
    largest, number = max(sizes), torch.device(device).index

    def reserve() -> None:
        torch_streams.allocate_bytes(largest, number)

    return reserve
