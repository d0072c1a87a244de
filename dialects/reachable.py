"""What is reached from somewhere, step by step, and what is connected, in graphs of any kind."""

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


def connected(nodes: Iterable[T], neighbours: Callable[[T], Iterable[T]]) -> list[list[T]]:
    """`nodes` by what is connected, each group in their order; `neighbours`, which are nodes, are so in both ways."""
    number = {node: index for index, node in enumerate(nodes)}
    groups: list[list[T]] = []
    done = set[T]()
    for node in number:
        if node not in done:
            group = reachable([node], neighbours)
            done |= group
            groups.append(sorted(group, key=number.__getitem__))
    return groups
