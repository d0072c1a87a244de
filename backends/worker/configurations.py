"""The tilings of kernels for GPUs that are ever asked of IREE: a closed list, each of a form that was run on a GPU.

IREE computes some others wrongly, silently: with fewer lanes than subgroups along what is reduced, columns whose tile
does not divide them, and several rows a workgroup of which the last ones are masked: each thread stores them all. None
of them can be made here (`Distribution`, `columns.py`, `_shares_rows`).
"""

from collections.abc import Sequence
from math import prod

from dovetail.backends.worker.loops import OPEN, Loops
from dovetail.backends.worker.tilings import LANES, MOST_THREADS, Distribution, Tiles

VECTOR_BITS = 128
"""What one thread loads at once."""

HALF = 16
"""Bits of half precision, of which a thread holds twice as many numbers of a row: as many bytes are under way."""
_FEWEST_NEIGHBOURS = 16
"""Of a workgroup: memory is read by so many numbers, at least."""
_LONG = 1024
_ROWS_TOGETHER = 4
"""That a workgroup takes where a subgroup holds one."""
_MANY_ROWS = 4096
"""Of which all parts of a GPU have some, taken so."""


def pointwise(loops: Loops) -> Tiles | None:
    """One vector a thread, neighbours in neighbouring threads.

    Where the innermost extent leaves neighbours to few threads, its end is masked: 4 numbers a thread, one of few. So
    are the ends of open extents; what lies in a vector is masked by the element.
    """
    extents, threads = loops.extents, 128
    if loops.reduces or not extents:
        return None
    vector = divisor(extents[-1], max(VECTOR_BITS // loops.bits, 1))
    inner = divisor(extents[-1] // vector, threads)
    if inner * vector < _FEWEST_NEIGHBOURS <= extents[-1]:
        is_long = extents[-1] >= _LONG
        if not is_long and len(extents) == 1:
            return None
        inner, vector, threads = LANES, 4 if is_long else 1, 256
        while inner < threads and inner * vector < extents[-1]:
            inner *= 2
    if extents[-1] == OPEN:
        inner, vector, threads = (256, 4, 256) if len(extents) == 1 else (64, 1, 256)
    workgroup = [1] * len(extents)
    workgroup[-1] = inner * vector
    threads //= deal(threads // inner, extents, workgroup, range(len(extents) - 1))
    if threads < LANES:
        return None
    return Tiles(threads, (*(1 for _ in extents[:-1]), vector), tuple(workgroup))


OPEN_ROW_SUBGROUPS = 8
"""That read a row of open length, 4 numbers a thread in each step; the last step is masked."""
MOST_ELEMENTS = 64
"""Of a row, in one thread's registers."""


def rows(loops: Loops) -> Distribution | None:
    """Whole rows in registers, read once, reduced by as many threads as have some 16 elements each, or 32 half as long.

    Of many rows of at most 1024 elements, a subgroup has one each; one row alone, all the threads that there can be.
    `bits` are those that lie in memory along a row.
    """
    if not loops.reduces_rows or loops.written > 32:
        return None
    extent = loops.extents[-1]
    if extent == OPEN:
        return _row(loops, OPEN_ROW_SUBGROUPS, 1, 4 * OPEN_ROW_SUBGROUPS * LANES)
    if extent % LANES:
        return _odd_rows(loops)
    vector = divisor(extent, VECTOR_BITS // max(loops.bits, HALF))
    if vector > 4 and extent > vector * LANES and extent % (vector * LANES):
        vector = 4
    lanes = extent // vector
    if lanes <= LANES and _shares_rows(loops) and divisor(lanes, LANES) == lanes:
        return _short_rows(loops, lanes, vector)
    if lanes % LANES == 0 and extent <= _LONG and _has_many_rows(loops):
        return _rows_together(loops, _ROWS_TOGETHER, LANES, vector, extent)
    is_alone = prod(loops.extents[:-1]) == 1
    threads = divisor(lanes, MOST_THREADS if is_alone else _threads_of_row(extent, loops.bits))
    if threads < LANES:
        return _odd_rows(loops) if loops.is_open else None
    tile = threads * vector
    while tile < extent and extent % (2 * tile) == 0 and 2 * tile <= MOST_ELEMENTS * threads:
        tile *= 2
    return _row(loops, threads // LANES, vector, tile)


def _threads_of_row(extent: int, bits: int) -> int:
    held, enough = (16, MOST_THREADS) if bits > HALF else (32, 256)
    threads = LANES
    while threads * held < extent and threads < enough:
        threads *= 2
    while threads * MOST_ELEMENTS < extent and threads < MOST_THREADS:
        threads *= 2
    return threads


def _row(loops: Loops, subgroups: int, vector: int, tile: int) -> Distribution:
    outer = len(loops.extents) - 1
    return Distribution(
        reduced=loops.reduced,
        lanes=(1,) * outer + (LANES,),
        subgroups=(1,) * outer + (subgroups,),
        thread=(0,) * outer + (vector,),
        tile=(0,) * outer + (tile,),
        workgroup=(1,) * outer + (0,),
    )


def _shares_rows(loops: Loops) -> bool:
    """Whether a workgroup may take several rows. Of an open number of rows IREE masks the last ones wrongly."""
    return len(loops.extents) >= 2 and loops.extents[-2] != OPEN


def _has_many_rows(loops: Loops) -> bool:
    """Whether a subgroup may have a row alone, and needs not wait for others in the middle of it."""
    return _shares_rows(loops) and loops.extents[-2] % _ROWS_TOGETHER == 0 and prod(loops.extents[:-1]) >= _MANY_ROWS


def _rows_together(loops: Loops, subgroups: int, lanes: int, vector: int, tile: int) -> Distribution:
    """As many rows a workgroup as so many `lanes` of its `subgroups` can have one each."""
    others, beside = len(loops.extents) - 2, LANES // lanes
    return Distribution(
        reduced=loops.reduced,
        lanes=(1,) * others + (beside, lanes),
        subgroups=(1,) * others + (subgroups, 1),
        thread=(0,) * others + (1, vector),
        tile=(0,) * others + (0, tile),
        workgroup=(1,) * others + (subgroups * beside, 0),
    )


def _short_rows(loops: Loops, lanes: int, vector: int) -> Distribution | None:
    """Several rows a subgroup: one row would leave most of its lanes idle."""
    subgroups = divisor(loops.extents[-2] // (LANES // lanes), 8)
    is_divided = loops.extents[-2] % (LANES // lanes) == 0
    return _rows_together(loops, subgroups, lanes, vector, loops.extents[-1]) if is_divided else None


def _odd_rows(loops: Loops) -> Distribution | None:
    """Rows of a length that threads don't divide: one element at a time, the last step masked."""
    extent, threads, held = loops.extents[-1], LANES, 12 if loops.bits > HALF else 24
    while threads < MOST_THREADS and extent > threads * held:
        threads *= 2
    tile = -(-extent // threads) * threads
    if tile > MOST_ELEMENTS * threads:
        return None
    if threads == LANES and _shares_rows(loops) and loops.extents[-2] % 8 == 0:
        return _rows_together(loops, 8, LANES, 1, tile)
    return _row(loops, threads // LANES, 1, tile)


def deal(threads: int, extents: Sequence[int], workgroup: list[int], loops: Sequence[int]) -> int:
    """Puts into `workgroup` as many iterations of each of `loops`, the last one first, as there are `threads` for.

    Returns:
        How many threads there are for each of those that have any.
    """
    for loop in reversed(loops):
        workgroup[loop] = divisor(extents[loop], threads)
        threads //= workgroup[loop]
    return threads


def divisor(extent: int, most: int) -> int:
    """The largest power of two, at most `most`, that divides `extent`; `most` itself where that is open."""
    found = 1
    while found * 2 <= most and extent % (found * 2) == 0:
        found *= 2
    return found
