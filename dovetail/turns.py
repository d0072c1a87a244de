"""Whose turn it is in Python, while regions compile."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

_TURN = 1e-4
"""Seconds that a thread computes before it lets those that wait have their turn."""


@contextmanager
def short_turns() -> Iterator[None]:
    """Has threads take turns often: those that wait for compilers do little themselves, but many times.

    Beside a thread that computes, each of these times would else take five milliseconds.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(_TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
