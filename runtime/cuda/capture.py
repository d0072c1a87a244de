"""Captures what torch does on a GPU as a CUDA graph; a failed capture leaves torch as it was before."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch

from dovetail.runtime.cuda import torch_streams

_capturing = threading.RLock()  # a finalizer may call a program before the capture has begun


@contextmanager
def captured(graph: torch.cuda.CUDAGraph, device: int) -> Iterator[None]:
    """What is done inside, by this thread, becomes `graph`, with a pool of its own; one capture of ours at a time.

    `torch.cuda.graph` does the same. But where an op inside can't be captured, it leaves the thread on the stream of
    the capture, the allocator in the pool and the random number generator in the graph.

    Raises:
        RuntimeError: of the op, or by torch at the end.
    """
    pool, mode = torch.cuda.graph_pool_handle(), "thread_local"
    with _capturing, torch.cuda.device(device), torch.cuda.stream(_stream(device)):
        scratch = torch.zeros(1, device="cuda")
        torch.cuda.synchronize()
        torch_streams.clear_workspaces()
        graph.capture_begin(pool, capture_error_mode=mode)
        try:
            yield
        except BaseException:
            _end_failed(graph, device, pool, scratch)
            raise
        try:
            graph.capture_end()
        except RuntimeError:
            _clean_up(device, pool, scratch)
            raise
        finally:
            torch_streams.clear_workspaces()


def _end_failed(graph: torch.cuda.CUDAGraph, device: int, pool: tuple[int, int], scratch: torch.Tensor) -> None:
    """Ends a capture whose failure is on its way to the caller."""
    try:
        graph.capture_end()
    except RuntimeError:  # says only that an op failed before
        _clean_up(device, pool, scratch)
    torch_streams.clear_workspaces()


def _clean_up(device: int, pool: tuple[int, int], scratch: torch.Tensor) -> None:
    """Does what `capture_end` leaves undone when it raises; a capture that succeeds frees the generator."""
    torch_streams.leave_pool(device, pool)
    graph = torch.cuda.CUDAGraph()
    graph.capture_begin(capture_error_mode="thread_local")
    scratch.zero_()
    graph.capture_end()


@cache
def _stream(device: int) -> torch.cuda.Stream:
    return torch.cuda.Stream(device)
