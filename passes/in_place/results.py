"""Which results are made beside the updates whose new values they read: those that one loop can make with these.

A result has memory of its own, so it can as well be computed apart.
"""

from collections.abc import Collection, Mapping, Sequence

from dovetail.dialects.memory.roots import may_show_old
from dovetail.dialects.reading import producer
from dovetail.passes.in_place.candidates import Beside, Update
from dovetail.passes.in_place.cones import MAX_READ, Cone, passed


def apart(cones: Mapping[Update, Cone], needed: Collection[Update]) -> list[Update]:
    """The results that no loop of updates can make: they are `needed` before, or read more than new values."""
    arguments = {update.argument for update in cones}
    found = []
    for result, cone in _results(cones):
        read = {passed(result.call, value) for value in cone.starts if not producer(value)}
        reads_old = any(arguments & may_show_old(value) for value in read)
        is_large = len(cone.starts) + len(cone.updated) > MAX_READ
        if reads_old or result in needed or is_large or any(map(producer, cone.starts)) or not cone.updated:
            found.append(result)
    return found


def waiting(cones: Mapping[Update, Cone], stages: Sequence[Collection[Update]]) -> list[Update]:
    """The results that are in no stage with the updates whose new values they read."""
    stage_of = {update: number for number, stage in enumerate(stages) for update in stage}
    read = [(result, each) for result, cone in _results(cones) for each in cone.updated.values()]
    found = (one for one, each in read if isinstance(each, Beside) or stage_of.get(each) != stage_of.get(one, -1))
    return list(dict.fromkeys(found))


def _results(cones: Mapping[Update, Cone]) -> list[tuple[Update, Cone]]:
    return [(update, cone) for update, cone in cones.items() if isinstance(update, Beside)]
