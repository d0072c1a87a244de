"""When Python's garbage collector looks at all objects, while Dynamo compiles."""

import gc
from dataclasses import dataclass
from typing import Any

from torch._dynamo.callback import callback_handler

_NEVER = 1 << 30
"""Collections of younger objects before all are looked at."""

_MOST = 100
"""Collections of younger objects while Dynamo compiled, of some seven thousand new ones each, that do not count.

A graph of a model's training step is ten to twenty. What they left behind is not to grow for ever.
"""

_before: list[tuple[int, int, int]] = []
"""The collector's thresholds that are to be put back, while Dynamo compiles."""


def postpone_full_collections() -> None:
    """Has the garbage collector look at new objects alone whenever Dynamo compiles, from the next time on.

    Dynamo and a backend make so many objects that all would be looked at once and again: with PyTorch and a model
    loaded, that takes a third of a second each time, an eighth of a warm start, and finds next to nothing. Nor does the
    first call pay for it then: until many were compiled, Python counts anew what makes a full collection due.
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
        _uncounted.count()


@dataclass
class _Uncounted:
    """Collections of younger objects, since the `full` collections so far, that are not to make another one due."""

    collections: int = 0
    full: int = 0

    def count(self) -> None:
        """Has Python count anew, unless there were too many, or the user has frozen objects, which it would thaw."""
        full, made = gc.get_stats()[2]["collections"], gc.get_count()[2]
        if full != self.full:
            self.collections, self.full = 0, full
        if self.collections + made > _MOST or gc.get_freeze_count():
            return
        self.collections += made
        gc.freeze()
        gc.unfreeze()


_uncounted = _Uncounted()
