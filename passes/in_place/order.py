"""In what order updates are made in place: after all that reads their old values, and in few regions."""

from collections.abc import Mapping

from dovetail.dialects.memory.roots import may_show_old
from dovetail.dialects.reading import producer
from dovetail.dialects.sizes.symbols import known_sizes
from dovetail.dialects.torch_facts.types import require_shaped_info
from dovetail.passes.in_place.candidates import Update
from dovetail.passes.in_place.cones import Cone, is_large, passed
from dovetail.passes.in_place.stages import grouped, stages_of


def ordered(cones: Mapping[Update, Cone], device: str) -> list[dict[Update, Cone]]:
    """The updates of `cones` in stages, group by group, without those that wait for each other."""
    readers = _readers(cones)
    read = {update: set(cone.updated.values()) for update, cone in cones.items()}
    before = {update: read[update] | readers[update] for update in cones}
    joined = {
        update: {other for other in read[update] - readers[update] if _is_exact(update, other)} for update in cones
    }
    return [
        {update: cones[update] for update in stage}
        for group in grouped(before, device)
        for stage in stages_of({update: before[update] for update in group}, joined)
    ]


def _readers(cones: Mapping[Update, Cone]) -> dict[Update, set[Update]]:
    """By update, those that read its old value."""
    by_argument = {update.argument: update for update in cones}
    readers: dict[Update, set[Update]] = {update: set() for update in cones}
    for update, cone in cones.items():
        outside = (passed(update.call, value) for value in cone.starts if not producer(value))
        for argument in {argument for value in outside for argument in may_show_old(value)} - {update.argument}:
            if argument in by_argument:
                readers[by_argument[argument]].add(update)
    return readers


def _is_exact(update: Update, other: Update) -> bool:
    """Whether one loop can make both, where `update` reads the new value of `other`: half precision is not rounded."""
    sizes = known_sizes(other.value)
    is_rounded = require_shaped_info(other.value.type).dtype not in ("float32", "float64")
    return known_sizes(update.value) == sizes and is_large(sizes) and not is_rounded
