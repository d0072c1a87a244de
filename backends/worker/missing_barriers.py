"""Barriers that IREE leaves out between a copy or a fill and others that touch the same memory.

Where parts of a tensor are updated one after the other, IREE asks of each step whether it touches what the step before
it wrote, and not what those before that did. So what copies the first of three parts may run beside the kernel that
computes it. Of two kernels nobody here can tell: they bind all of a memory, and know by themselves where they write.
"""

from collections.abc import Iterator, Sequence
from typing import Any

Step = dict[str, Any]
Range = Sequence[Any]
"""The buffer's number, offset and length in bytes; what is open of these is a text."""


def with_barriers(steps: Sequence[Step], memories: int) -> list[Step]:
    """`steps` with what is missing; buffers are memory that may be written, but for those from number `memories` on."""
    found, beside = list[Step](), list[Step]()
    for step in steps:
        if any(_meet(step, other, memories) for other in beside):
            found.append({"op": "barrier"})
            beside = []
        beside = [] if step["op"] == "barrier" else [*beside, step]
        found.append(step)
    return found


def _meet(step: Step, other: Step, memories: int) -> bool:
    """Whether one writes what the other touches; of two launches that is IREE's to know."""
    if step["op"] == other["op"] == "dispatch":
        return False
    pairs = [(one, two) for one in _touched(step) for two in _touched(other)]
    return any(
        (is_written or is_other_written) and one[0] == two[0] < memories and _overlap(one, two)
        for (one, is_written), (two, is_other_written) in pairs
    )


def _touched(step: Step) -> Iterator[tuple[Range, bool]]:
    """What a step reads or writes, and whether it may write it."""
    yield from ((each, True) for each in step.get("bindings", ()))
    yield from ((step[key], key == "target") for key in ("source", "target") if key in step)


def _overlap(one: Range, two: Range) -> bool:
    """Whether two ranges of one buffer may have a byte in common."""
    (_, start, size), (_, first, room) = one, two
    numbers = [each for each in (start, size, first, room) if isinstance(each, int)]
    if len(numbers) < 4:
        return True
    start, size, first, room = numbers
    return start < first + room and first < start + size
