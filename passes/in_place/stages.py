"""Which updates in place run together, few at a time and where there are many alike, alike, and in what order."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from dovetail.dialects.by_key import by_key
from dovetail.dialects.reachable import connected
from dovetail.dialects.sizes.expected import expected_bytes
from dovetail.dialects.torch_facts.types import require_shaped_info
from dovetail.passes.in_place.candidates import Update

MOST_UPDATES = 128
"""Updates of one group: IREE's compile time grows faster than their number beyond some hundreds."""

NEAR_BYTES = {"cpu": 1 << 20, "cuda": 1 << 62}
"""Bytes that a group writes, by device: what one core keeps near until the next stage of the group reads it."""

Family = list[Update]
"""Updates of which some must be made before others: a parameter, its moments and its count of steps."""


def grouped(before: Mapping[Update, set[Update]], device: str) -> list[list[Update]]:
    """The keys of `before`, in groups that may run in any order; the values must be made before their key.

    A later stage of a group reads what an earlier one has just written. Groups of equal families are equally large,
    so that they make equal regions, which are compiled once.
    """
    near = NEAR_BYTES[device]
    families = families_of(before)
    alike = by_key((_forms(family), family) for family in families)
    groups: list[list[Update]] = []
    small: list[Family] = []
    for families in alike.values():
        most = max(min(MOST_UPDATES // len(families[0]), near // max(_nbytes(families[0]), 1)), 1)
        each = next((size for size in range(most, most // 2, -1) if len(families) % size == 0), most)
        parts = [families[start : start + each] for start in range(0, len(families), each)]
        for part in parts:
            if len(part) > most // 2:
                groups.append([update for family in part for update in family])
            else:
                small += part
    return groups + _packed(small, near)


def _forms(family: Family) -> Hashable:
    """What equal families have in common: how many updates of each shape and element type there are."""
    infos = (require_shaped_info(update.value.type) for update in family)
    return frozenset(Counter((info.shape, info.dtype) for info in infos).items())


def families_of(before: Mapping[Update, set[Update]]) -> list[Family]:
    """The keys of `before` that are connected by it, each family in their order."""
    neighbours: dict[Update, set[Update]] = {update: set(others) for update, others in before.items()}
    for update, others in before.items():
        for other in others:
            neighbours[other].add(update)
    return connected(before, neighbours.__getitem__)


def _packed(families: Iterable[Family], near: int) -> list[list[Update]]:
    groups: list[list[Update]] = []
    for family in families:
        joined = [*groups[-1], *family] if groups else []
        if joined and len(joined) <= MOST_UPDATES and _nbytes(joined) <= near:
            groups[-1] = joined
        else:
            groups.append(family)
    return groups


def _nbytes(updates: Sequence[Update]) -> int:
    return expected_bytes(update.value for update in updates)


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
    while ready := [key for key, others in before.items() if key not in done and others <= done]:
        levels.append(ready)
        done.update(ready)
    return levels
