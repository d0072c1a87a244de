"""Where compile time goes: the seconds of each stage, as `dovetail.stats()` shows them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from dovetail.runtime.stats import current


@contextmanager
def timed(stage: str) -> Iterator[None]:
    """Adds the wall-clock seconds inside to `stage`, less those of the stages within it, and to "total"."""
    seconds = current().compile_seconds
    total, started = seconds.get("total", 0.0), time.perf_counter()
    try:
        yield
    finally:  # what fails costs time as well
        own = time.perf_counter() - started - (seconds.get("total", 0.0) - total)
        seconds[stage] += own
        seconds["total"] += own
