"""How long a call takes; a module of its own, so that tests can put a fake in its place."""

from collections.abc import Callable
from timeit import repeat, timeit

_ROUNDS, _ROUND_SECONDS = 5, 0.01


def seconds_per_call(call: Callable[[], object]) -> float:
    """The fastest of a few rounds, in seconds of wall-clock time for one `call`.

    Wall-clock, since alternatives differ in how many threads they use; the fastest, since other work only ever adds.
    """
    call()
    count = max(1, int(_ROUND_SECONDS / max(timeit(call, number=1), 1e-7)))
    return min(repeat(call, number=count, repeat=_ROUNDS)) / count
