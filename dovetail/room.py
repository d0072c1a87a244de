"""Room for calls as deep as a compilation's.

Python keeps the frames of functions in chunks of 16 KiB, which it takes from the operating system and gives back as
calls go deeper and return. A loop whose calls cross the end of a chunk pays for that each time: a tenth of a
compilation. A frame that needs more gets a chunk of the next power of two, and what it calls lies in the rest of it.
"""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_R = TypeVar("_R")

_BYTES = 1 << 19
"""What is left for calls: a thousand frames, Python's limit, of 64 words each."""


def with_room(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """`function`, with room for the frames of all that it calls."""

    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        return function(*args, **kwargs)

    # A little more than half of a chunk; memory that nothing is written to costs nothing.
    call.__code__ = call.__code__.replace(co_stacksize=_BYTES // 8 + 64)
    return functools.wraps(function)(call)
