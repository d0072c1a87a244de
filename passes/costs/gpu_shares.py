"""How many numbers of a sum each thread of a GPU adds up, and in what blocks a sum is cut so that all have work."""

from collections.abc import Iterator, Sequence
from math import prod

MOST_IN_A_ROW = 65_536
"""Numbers that the registers of one workgroup hold."""
MOST_BY_ONE = 256
"""Numbers that one thread may reduce, one after the other."""
MOST_BY_FEW = 16_384
"""Numbers that any kernel reduces in some microseconds."""
FEW = 8
"""Numbers of a column that one thread adds up as it reads them."""
LANES = 32
"""Threads that share a row."""
_MOST_OF_DEFAULT_TILES = 8192
"""Numbers of a row up to which IREE's own tiles are exact enough: a lane adds up a few hundred."""
_LARGEST_BLOCK = 4096
"""Numbers of a row's blocks, of a row that would fit into a workgroup."""
_SMALLEST_BLOCK = 1024
"""Numbers of a block that are worth a workgroup."""
_ENOUGH_ROWS = 128
"""Workgroups below which a GPU stands idle in part."""

COLUMN_TILE = 16
"""Columns that a workgroup takes at once."""
ROW_TILE = 64
"""Rows that it takes at once."""
_ENOUGH_TILES = 528
"""Workgroups that have columns to add up, below which blocks of rows are made smaller."""
_TILES_WITHOUT_PARTS = 256
"""Workgroups from which on a second launch, which adds up blocks, costs more than what stands idle."""
_LONGEST_PART = 64 * ROW_TILE
"""Rows that `ROW_TILE` of them stand for."""
_FACTORS = 2, 3, 5, 7
"""Numbers of parts that a block of rows is cut in, as those of images of 7 by 7 are."""
_MOST_ROWS_OF_A_TILE = 16_384
"""Rows after which what a thread adds up one after the other is too much rounded."""


def row_form(outer: int, count: int) -> bool:
    """Whether many threads reduce each of `outer` rows of `count` numbers, in parts if they must.

    IREE gives one thread a single row that they do not divide.
    """
    if count % LANES:
        return outer > 1 and count <= MOST_IN_A_ROW
    if count > MOST_IN_A_ROW:
        return any(_blocks_of_row(outer, count))
    return count <= _MOST_OF_DEFAULT_TILES or count % (4 * LANES) == 0


def is_held(count: int) -> bool:
    """Whether one workgroup has a row of `count` numbers of float32 in its registers, and so reads it once.

    So many threads share a row that each has about 16 numbers, but no more than divide it (the form `rows`).
    """
    threads = 1
    while count % (8 * threads) == 0 and threads < 1024 and 16 * threads < count:
        threads *= 2
    steps = count // (4 * threads)
    return count % (4 * LANES) == 0 and steps <= 16 and steps & (steps - 1) == 0


def column_form(count: int, inner: int) -> bool:
    """Whether many threads reduce each of `inner` columns of `count` numbers."""
    return inner % COLUMN_TILE == 0 and count % ROW_TILE == 0


def few_form(dims: Sequence[int], count: int, inner: int) -> bool:
    """Whether a sum along one dimension, of `inner` columns, is of so few numbers that a thread adds them up."""
    return len(dims) == 1 and inner > 1 and count <= FEW


def block_of_row(sizes: Sequence[int], dims: Sequence[int]) -> int | None:
    """How many neighbours to add up first, those of whole dimensions if they can be; None for all.

    `dims`, of known sizes, are the last ones of `sizes`.
    """
    outer, count = prod(sizes[: dims[0]]), prod(sizes[dims[0] :])
    blocks = list(_blocks_of_row(outer, count))
    whole = (block for block in blocks if block >= _SMALLEST_BLOCK and cut_of(sizes, dims, block) is not None)
    return next(whole, blocks[0] if blocks else None)


def _blocks_of_row(outer: int, count: int) -> Iterator[int]:
    """The blocks that a row may be cut in, the largest first; none where all of it is added up at once.

    Of one row, no more parts than one thread adds up, or as many as threads share.
    """
    if count <= MOST_IN_A_ROW and (outer >= _ENOUGH_ROWS or count <= 2 * _LARGEST_BLOCK):
        return
    for block in range(MOST_IN_A_ROW // 4 if count > MOST_IN_A_ROW else _LARGEST_BLOCK, 0, -4 * LANES):
        parts = count // block
        if count % block == 0 and (outer > 1 or parts <= MOST_BY_ONE or parts % LANES == 0):
            yield block


def cut_of(sizes: Sequence[int], dims: Sequence[int], block: int) -> tuple[int, int] | None:
    """The one dimension that is cut to make blocks, and in pieces of how many; None where several would be merged.

    What computes the numbers is then part of the same kernel.
    """
    for index in reversed(dims):
        if block <= sizes[index]:
            return (index, block) if sizes[index] % block == 0 else None
        if block % sizes[index]:
            return None
        block //= sizes[index]
    return None


def block_of_column(outer: int, count: int, inner: int) -> int | None:
    """How many rows to add up first, so that there is work for all of a GPU; None for all."""
    has_work = outer * (inner // COLUMN_TILE) >= _TILES_WITHOUT_PARTS
    if outer * count * inner <= MOST_BY_FEW or (count <= _MOST_ROWS_OF_A_TILE and has_work):
        return None
    block = count
    while block > _MOST_ROWS_OF_A_TILE or outer * (count // block) * (inner // COLUMN_TILE) < _ENOUGH_TILES:
        factor = next((each for each in _FACTORS if block % (each * ROW_TILE) == 0), 0)
        if not factor or (factor > 2 and not _pays(outer, count * factor // block, inner, block)):
            break
        block //= factor
    return block if block < count else None


def _pays(outer: int, parts: int, inner: int, block: int) -> bool:
    """Whether blocks of `block` rows are worth being cut in so many parts, the sums of which many threads add up."""
    return block >= _SMALLEST_BLOCK and (column_form(parts, inner) or outer * parts * inner <= MOST_BY_FEW)


def part_of_columns(count: int, inner: int) -> int | None:
    """How many rows make a part of columns that are cut so that there is work for all of a GPU; None where none are.

    It has more than `ROW_TILE` rows, and is short enough for so many of them to stand for it.
    """
    block = block_of_column(1, count, inner) if column_form(count, inner) else None
    parts = range(_LONGEST_PART, ROW_TILE, -ROW_TILE)
    return None if block is None else next((part for part in parts if block % part == 0), None)
