"""Calls from a function with room stay in one piece of Python's memory for frames."""

import resource

from dovetail.room import with_room


def most_faults(depth: int) -> int:
    """The most page faults that 200 calls take, of those at each depth down to 300."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(200):
        abs_of(depth)
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    return max(faults, most_faults(depth + 1)) if depth < 300 else faults


def abs_of(number: int) -> int:
    return abs(number)


def test_no_call_maps_memory():
    """Calls across the end of a chunk map and unmap the next one each time: they fault a page each."""
    most_faults(0)  # what is new to Python faults once
    assert with_room(most_faults)(0) < 100
