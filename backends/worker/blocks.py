"""Has loops that reach some tensor across its rows go by blocks, in a text of IREE's phase `flow`.

IREE would take such a tensor one element at a time, or, if the loop does nothing but copy it, by smaller blocks.
"""

from dataclasses import replace

from iree.compiler import ir

from dovetail.backends.worker.loops import OPEN, Loops
from dovetail.backends.worker.narrow_sums import add_narrow_first
from dovetail.backends.worker.open_rows import tile_open_rows
from dovetail.backends.worker.read_loops import read_loops, width_of
from dovetail.backends.worker.tiles import Blocks
from dovetail.backends.worker.walk import editing, walk

_THREADS = (32, 512)
"""Rows and columns that a thread is given at once: few pages of memory are in use at a time."""

_LONG, _FEW_ROWS = 16, 8
"""Operations on an element from which blocks have few rows: a longer loop lacks the registers for more."""

_ELEMENTS = 1 << 14
"""That a thread is given at once, where rows are not longer."""

_MOST_COLUMNS, _USUAL_COLUMNS = 1 << 12, 1 << 10
"""Of a row that a thread is given at once; where only a call tells how long rows are."""


def columns(loops: Loops, vector_bits: int) -> Blocks | None:
    """Blocks four vectors wide, where tensors lie along a loop that does not reduce, and is long.

    What is reduced goes row by row.
    """
    along, wide = min(loops.inner, default=-1), 4 * vector_bits // 32
    if not loops.reduces or len(loops.inner) != 1 or loops.reduced[along]:
        return None
    extent = loops.extents[along]
    if extent % wide and extent <= 4 * wide:
        return None
    piece = tuple(0 if each else wide if loop == along else 1 for loop, each in enumerate(loops.reduced))
    return Blocks(piece, piece, tuple(map(int, loops.reduced)))


def blocks(loops: Loops, operations: int, vector_bits: int) -> Blocks | None:
    """Blocks as wide as a vector, where each tensor lies along the last loop or along one other."""
    last = len(loops.extents) - 1
    others = loops.inner - {last}
    if loops.reduces or last not in loops.inner or len(others) != 1:
        return None
    columns = vector_bits // loops.bits
    rows = min(columns, _FEW_ROWS) if operations > _LONG else columns

    def by_loop(across: int, along: int) -> tuple[int, ...]:
        return tuple(along if loop == last else across if loop in others else 1 for loop in range(last + 1))

    return Blocks(by_loop(*_THREADS), by_loop(rows, columns))


def whole_rows(loops: Loops, vector_bits: int) -> Blocks | None:
    """Rows four vectors at a time, where all tensors lie along the last of several loops, and that is long.

    So memory is read as it lies. IREE's own blocks are 64 rows by 64 columns: each of 64 rows, a page apart, is read
    for four lines of memory, which no CPU foresees.
    """
    last = len(loops.extents) - 1
    if last < 1 or loops.reduces or loops.inner != {last}:
        return None
    extent, wide = loops.extents[last], 4 * vector_bits // loops.bits
    if extent % wide and extent <= 4 * wide:
        return None
    columns = _USUAL_COLUMNS if extent == OPEN else min(extent, _MOST_COLUMNS)
    outer = (1,) * (last - 1)
    return Blocks((*outer, max(1, _ELEMENTS // columns), columns), (*outer, 1, wide))


def cut_into_blocks(text: bytes) -> bytes:
    """`text`, where the only loop of a kernel goes by blocks, or by rows if it computes something, or adds up columns.

    Rows of open length are added up one at a time.
    """
    vector_bits = 512 if b"+avx512f" in text else 256
    with editing(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for executable in module.body.operations:
            ops = list(walk(executable.operation))
            computing = [op for op in ops if "iterator_types" in op.attributes]
            if computing and add_narrow_first(computing, vector_bits):
                continue
            forms = _forms(computing, vector_bits)
            for op, form in forms:
                op.attributes["compilation_info"] = ir.Attribute.parse(form.attribute())
            if not forms:
                tile_open_rows(ops)
        return str(module).encode()


def _forms(computing: list[ir.Operation], vector_bits: int) -> list[tuple[ir.Operation, Blocks]]:
    """What the ops of a kernel that have a form are asked to be tiled by."""
    if len(computing) == 1 and (form := _of_elements(computing[0], vector_bits)) is not None:
        return [(computing[0], form)]
    found = [(op, loops) for op in computing if (loops := read_loops(op, takes_open=True)) is not None]
    sums = [(op, loops) for op, loops in found if loops.reduces]
    if len(found) != len(computing) or len(sums) != 1:
        return []
    (op, added), *_ = sums
    are_smaller = all(len(loops.extents) < len(added.extents) for _, loops in found if not loops.reduces)
    blocked = columns(added, vector_bits) if are_smaller else None
    return [] if blocked is None else [(op, blocked)]


def _of_elements(op: ir.Operation, vector_bits: int) -> Blocks | None:
    *operations, _ = (each.operation for each in op.regions[0].blocks[0].operations)
    loops = read_loops(op, takes_open=True)
    if loops is None:
        return None
    widest = max([loops.bits, *(width_of(result.type) for each in operations for result in each.results)])
    loops = replace(loops, bits=widest)
    blocked = blocks(loops, len(operations), vector_bits)
    return blocked or (whole_rows(loops, vector_bits) if operations else None)
