"""The tiles of sums and maxima along another dimension than the last: of the closed list, as `configurations.py` is."""

from collections.abc import Sequence
from math import prod

from dovetail.backends.worker.configurations import HALF
from dovetail.backends.worker.loops import Loops
from dovetail.backends.worker.tilings import LANES, Distribution

_LANES, _SUBGROUPS, _VECTOR = 4, 8, 4
_WIDE_LANES, _WIDE_SUBGROUPS, _WIDE_VECTOR = 2, 16, 8
_ENOUGH_WIDE = 128
"""Workgroups for which every part of a GPU has one."""


def columns(loops: Loops) -> Distribution | None:
    """16 columns a workgroup of 256 threads, without a transient. The tile divides both: IREE masks columns wrongly."""
    rows_at_once = _SUBGROUPS * LANES // _LANES
    wide = _LANES * _VECTOR
    return _columns(loops, _LANES, _SUBGROUPS, _VECTOR, wide, (2 * rows_at_once, rows_at_once))


def wide_columns(loops: Loops) -> Distribution | None:
    """32 columns of half precision for 512 threads, where there are enough of them; `bits` are those in memory.

    16 columns are 32 bytes of a row, half of what memory is read by.
    """
    wide = 2 * _WIDE_LANES * _WIDE_VECTOR
    kept = prod(extent for extent, reduces in zip(loops.extents, loops.reduced, strict=True) if not reduces)
    if loops.bits != HALF or kept < _ENOUGH_WIDE * wide:
        return None
    rows_at_once = _WIDE_SUBGROUPS * LANES // _WIDE_LANES
    return _columns(loops, _WIDE_LANES, _WIDE_SUBGROUPS, _WIDE_VECTOR, wide, (2 * rows_at_once,))


def _columns(
    loops: Loops, lanes: int, subgroups: int, vector: int, wide: int, steps: Sequence[int]
) -> Distribution | None:
    """`wide` columns a workgroup, of the first number of rows at a time that divides theirs."""
    if not loops.reduces_columns or loops.bits > 32 or loops.is_open:
        return None
    reduced = loops.reduced.index(True)
    (inner,) = loops.inner if len(loops.inner) == 1 else (None,)
    step = next((each for each in steps if loops.extents[reduced] % each == 0), None)
    if inner is None or step is None or loops.extents[inner] % wide:
        return None

    def by_loop(at_inner: int, at_reduced: int, elsewhere: int) -> tuple[int, ...]:
        known = {inner: at_inner, reduced: at_reduced}
        return tuple(known.get(loop, elsewhere) for loop in range(len(loops.extents)))

    return Distribution(
        reduced=loops.reduced,
        lanes=by_loop(lanes, LANES // lanes, 1),
        subgroups=by_loop(1, subgroups, 1),
        thread=by_loop(vector, 1, 1),
        tile=by_loop(0, step, 0),
        workgroup=by_loop(wide, 0, 1),
    )
