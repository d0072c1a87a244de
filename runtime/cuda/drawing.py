"""Replays that draw random numbers take turns on a GPU: all graphs read the generator's offset in one place.

Each replay has its own put there, on its stream, just before the graph. On another stream it could come before an
earlier graph, which waits for the GPU, has read its own.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch

_last: dict[int, tuple[int, torch.cuda.Event]] = {}
"""By GPU, the stream of the last one and what says that it is done."""

_turn = threading.RLock()  # a finalizer may call a program in between


@contextmanager
def turn(device: int, stream: int) -> Iterator[None]:
    """What is replayed inside, on `stream`, the current one, begins when the last such replay elsewhere has ended."""
    with _turn:
        last, done = _last.get(device) or (stream, torch.cuda.Event())
        if last != stream:
            done.wait()
        yield
        done.record()
        _last[device] = stream, done
