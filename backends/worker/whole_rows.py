"""Loops over several dimensions that go row by row, so that memory is read as it lies.

IREE's own blocks are 64 rows by 64 columns: each of 64 rows, a page apart, is read for four lines of memory, which no
CPU foresees.
"""

from dovetail.backends.worker.loops import OPEN, Loops
from dovetail.backends.worker.tiles import Blocks

_ELEMENTS = 1 << 14
"""That a thread is given at once, where rows are not longer."""

_MOST_COLUMNS, _USUAL_COLUMNS = 1 << 12, 1 << 10
"""Of a row that a thread is given at once; where only a call tells how long rows are."""


def whole_rows(loops: Loops, vector_bits: int) -> Blocks | None:
    """Rows four vectors at a time, where all tensors lie along the last of several loops, and that is long."""
    last = len(loops.extents) - 1
    if last < 1 or loops.reduces or loops.inner != {last}:
        return None
    extent, wide = loops.extents[last], 4 * vector_bits // loops.bits
    if extent % wide and extent <= 4 * wide:
        return None
    columns = _USUAL_COLUMNS if extent == OPEN else min(extent, _MOST_COLUMNS)
    outer = (1,) * (last - 1)
    return Blocks((*outer, max(1, _ELEMENTS // columns), columns), (*outer, 1, wide))
