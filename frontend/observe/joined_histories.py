"""Histories that one node of autograd's graph would join, though eager keeps them apart."""

from collections.abc import Collection, Sequence

from dovetail.errors import UnsupportedError
from dovetail.frontend.observe.alias_groups import AliasGroup
from dovetail.frontend.observe.observations import Observations


def check_histories(
    seen: Observations, static: Collection[int], groups: Sequence[AliasGroup], names: Sequence[str]
) -> None:
    """Checks module state that keeps a history from call to call, by the `static` arguments' positions.

    A compiled call is one node: a backward from any of its results runs through what gave all of its arguments their
    values, with gradients or without. What a buffer's next backward runs through again must not be freed by then.

    Raises:
        UnsupportedError: where another result's history comes from arguments that a buffer's new history does not, or
            frees what that does not.
    """
    reached, frees = seen.backward.reached, seen.backward.frees
    tracked = [index for index in seen.written if (mutation := seen.mutations[index]) and mutation.mode == "tracked"]
    sources = {
        place: {index for index, places in enumerate(reached) if places is not None and place in places}
        for place in range(len(seen.leaving))
    }
    together = {index: set(group.members) for group in groups for index in group.members}
    for index in tracked:
        place = seen.written[index]
        is_kept = sources[place] and not together.get(index, {index}).isdisjoint(static)
        is_apart = any(not sources[place].issuperset(each) for each in sources.values())
        if is_kept and (is_apart or any(not set(frees[place]).issuperset(each) for each in frees)):
            raise UnsupportedError(f"argument {names[index]} keeps a history apart from that of other results")
