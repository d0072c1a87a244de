"""What launching uses of PyTorch's private API: functions that have no public way, or one that costs ten times as much.

PyTorch's builds without CUDA lack those of streams, and launch nothing.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch._C._dynamo.guards


def _absent(*_: Any) -> Any:
    raise RuntimeError("this build of PyTorch has no CUDA")


raw_stream: Callable[[int], int] = getattr(torch._C, "_cuda_getCurrentRawStream", _absent)
"""The address of the current stream of a device; `torch.cuda.current_stream` takes 4 us for it."""

current_device: Callable[[], int] = getattr(torch._C, "_cuda_getDevice", _absent)
"""The calling thread's device."""

holders: Callable[[int], int] = torch._C._storage_Use_Count
"""How many tensors and storage objects share a storage, by its `_cdata`."""

clear_workspaces: Callable[[], object] = getattr(torch._C, "_cuda_clearCublasWorkspaces", _absent)
"""Lets go of the memory in which cuBLAS works, by stream. What a graph captures takes memory of its own then."""


_quick_bytes: Callable[..., torch.Tensor] = getattr(torch._C._dynamo.guards, "_empty_strided_cuda", _absent)


def allocate_bytes(count: int, device: int) -> torch.Tensor:
    """Memory of `count` bytes on a GPU; PyTorch's dispatcher is asked only where that is not the thread's."""
    if current_device() == device:
        return _quick_bytes((count,), (1,), torch.uint8)
    return torch.empty(count, dtype=torch.uint8, device=torch.device("cuda", device))


def leave_pool(device: int, pool: tuple[int, int]) -> None:
    """Ends allocation in a pool of a graph, and gives it back."""
    torch._C._cuda_endAllocateToPool(device, pool)
    torch._C._cuda_releasePool(device, pool)
