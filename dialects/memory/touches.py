"""Which steps of a launch plan touch the memory of an argument, and whether one loop does what one must do."""

from collections.abc import Sequence

Touch = tuple[int, bool]
"""The number of a step that binds, fills or copies memory, and whether it launches a function."""


def is_in_one_loop(touching: Sequence[Touch]) -> bool:
    """Whether one launch is all that touches memory."""
    return [is_launch for _, is_launch in touching] == [True]


def is_read_first(reading: Sequence[Touch], writing: Sequence[Touch]) -> bool:
    """Whether a result may lie where an operand does: one launch alone reads that, and none writes there before."""
    return is_in_one_loop(reading) and writing[:1] == reading
