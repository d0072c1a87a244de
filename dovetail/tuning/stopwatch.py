"""How long a call takes; a module of its own, so that tests can put a fake in its place."""

import time
from collections.abc import Callable

_ROUNDS, _ROUND_SECONDS = 5, 0.01


def seconds_per_call(call: Callable[[], object]) -> float:
    """The fastest of a few rounds, in seconds of wall-clock time for one `call`.

    Wall-clock, since alternatives differ in how many threads they use; the fastest, since other work only ever adds.
    """
    call()
    started = time.perf_counter()
    call()
    count = max(1, int(_ROUND_SECONDS / max(time.perf_counter() - started, 1e-7)))
    return min(_round(call, count) for _ in range(_ROUNDS)) / count


def _round(call: Callable[[], object], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        call()
    return time.perf_counter() - started
