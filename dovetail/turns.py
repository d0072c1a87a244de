"""Whose turn it is in Python, while regions compile."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_TURN = 1e-4
"""Seconds that a thread computes before it lets those that wait have their turn."""

_lock = threading.Lock()
_before: list[float] = []
"""For each compilation that goes on, the turns of before the first of them."""


@contextmanager
def short_turns() -> Iterator[None]:
    """Has threads take turns often: those that wait for compilers do little themselves, but many times.

    Beside a thread that computes, each of these times would else take five milliseconds. Turns are as before once no
    thread compiles any more.
    """
    with _lock:
        _before.append(_before[0] if _before else sys.getswitchinterval())
        sys.setswitchinterval(_TURN)
    try:
        yield
    finally:
        with _lock:
            before = _before.pop()
            if not _before:
                sys.setswitchinterval(before)
