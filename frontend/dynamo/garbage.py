"""When Python's garbage collector looks at all objects, while Dynamo compiles."""

import gc
from typing import Any

from torch._dynamo.callback import callback_handler

_NEVER = 1 << 30
"""Collections of younger objects before all are looked at."""

_before: list[tuple[int, int, int]] = []
"""The collector's thresholds that are to be put back, while Dynamo compiles."""


def postpone_full_collections() -> None:
    """Has the garbage collector look at new objects alone whenever Dynamo compiles, from the next time on.

    Dynamo and a backend make so many objects that all would be looked at once and again: with PyTorch and a model
    loaded, that takes a third of a second each time, an eighth of a warm start, and finds next to nothing. All have
    their turn once Dynamo has compiled, if it is due then.
    """
    if _postpone not in callback_handler.start_callbacks:  # a reset of Dynamo takes it away
        callback_handler.register_start_callback(_postpone)
    if _put_back not in callback_handler.end_callbacks:
        callback_handler.register_end_callback(_put_back)


def _postpone(arguments: Any) -> None:
    if not _before:
        _before.append(gc.get_threshold())
        gc.set_threshold(*_before[0][:2], _NEVER)


def _put_back(arguments: Any) -> None:
    if _before:
        gc.set_threshold(*_before.pop())
