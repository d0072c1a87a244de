"""What is known of a type, asked once, however many values have it: the text of a type is slow to make."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

from torch_mlir import ir

T = TypeVar("T")
_known: ContextVar[defaultdict[Callable, dict[ir.Type, Any]] | None] = ContextVar("_known", default=None)


@contextmanager
def types_read_once() -> Iterator[None]:
    """Within it, and what is inside of it, this thread reads each type once.

    A type never changes, so what is known of it holds. It ends with the block since a type keeps its context alive.
    """
    known = _known.get()
    token = _known.set(defaultdict(dict) if known is None else known)
    try:
        yield
    finally:
        _known.reset(token)


def read_once(read: Callable[[Any], T]) -> Callable[[Any], T]:
    """What `read` says of a type; within `types_read_once`, asked once."""

    @wraps(read)
    def remembered(type_: ir.Type) -> T:
        everything = _known.get()
        if everything is None:
            return read(type_)
        known = everything[read]
        found = known.get(type_)
        if found is None:
            found = known[type_] = read(type_)
        return found

    return remembered
