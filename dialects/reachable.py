"""What is reached from somewhere, step by step, in graphs of any kind."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def reachable(roots: Iterable[T], onward: Callable[[T], Iterable[T]]) -> set[T]:
    """`roots`, and all that `onward` leads to from them; it is asked once for each."""
    found = set(roots)
    pending = list(found)
    while pending:
        for each in onward(pending.pop()):
            if each not in found:
                found.add(each)
                pending.append(each)
    return found
