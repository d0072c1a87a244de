"""In what order updates in place run, and which of them at once."""

from collections.abc import Hashable, Mapping
from typing import TypeVar

from dovetail.passes.in_place.candidates import Update
from dovetail.passes.in_place.groups import families_of

T = TypeVar("T", bound=Hashable)

Edges = Mapping[Update, set[Update]]
"""By update, others that must be made before it."""


def stages_of(before: Edges, joined: Edges) -> list[list[Update]]:
    """The keys of `before` by stage, without those that wait for each other.

    What `joined` says of two updates, a part of `before`, has them in one stage, in this order, where no other wait
    keeps them apart.
    """
    loops = families_of({update: joined.get(update, set()) & before.keys() for update in before})
    loop_of = {update: number for number, loop in enumerate(loops) for update in loop}
    waits = {
        number: {loop_of[other] for update in loop for other in before[update] - joined.get(update, set())}
        for number, loop in enumerate(loops)
    }
    ordered = _levels(waits)
    if sum(map(len, ordered)) < len(loops):
        return _levels(before)
    return [[update for number in level for update in _in_order(loops[number], before)] for level in ordered]


def _in_order(loop: list[Update], before: Edges) -> list[Update]:
    levels = _levels({update: before[update].intersection(loop) for update in loop})
    return [update for level in levels for update in level]


def _levels(before: Mapping[T, set[T]]) -> list[list[T]]:
    """The keys of `before`, each level without waiting for any but earlier ones; without those in circles."""
    levels: list[list[T]] = []
    done: set[T] = set()
    while ready := [each for each, others in before.items() if each not in done and others <= done]:
        levels.append(ready)
        done.update(ready)
    return levels
