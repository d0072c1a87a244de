"""Kernels that sum rows and compute them go one row at a time, if the region asks for it.

IREE takes several at once. Those of some hundred numbers lie as far apart as a cache repeats itself, and drive each
other out of it. The last ones of an open number it takes by code that has their number for an extent of vectors:
scalars. And it computes what else rows of open length need anew for each vector, since no tile is all of a tensor.
"""

from collections.abc import Sequence

from iree.compiler import ir

from dovetail.backends.worker.loops import OPEN, Loops
from dovetail.backends.worker.read_loops import read_loops
from dovetail.backends.worker.tiles import Blocks, config

_ROWS, _WIDE = 32, 64
"""Rows that a thread is given at once, and numbers of a row: four vectors of the widest CPU's."""


LENGTHS = range(2 * _WIDE, 32 * _WIDE + 1)
"""Rows of known length that a region may have beside others, of which IREE tiles the others better."""


def tile_open_rows(ops: Sequence[ir.Operation]) -> None:
    """Asks for such tiles of `ops`, those of a kernel, if all of them go along rows or have a number for each."""
    nests = [(op, read_loops(op, takes_open=True)) for op in ops if "iterator_types" in op.attributes]
    fills = [op for op in ops if op.name == "linalg.fill"]
    sums = [(op, loops) for op, loops in nests if loops is not None and loops.reduces]
    if not sums or not _are_rows([loops for _, loops in nests], fills):
        return
    root, outer = sums[-1][0], len(sums[-1][1].extents) - 1
    for op, loops in nests:
        if op != root and loops is not None:
            op.attributes["lowering_config"] = _config(loops, outer)
    for op in fills:
        op.attributes["lowering_config"] = config(vector_common_parallel=[1] * outer)
    ones = [1] * outer
    root.attributes["compilation_info"] = ir.Attribute.parse(
        Blocks((*ones[1:], _ROWS, 0), (*ones, 0), (*[0] * outer, _WIDE)).attribute()
    )


def _are_rows(found: Sequence[Loops | None], fills: Sequence[ir.Operation]) -> bool:
    """Whether loops are of rows that all reductions take, or of as many numbers as rows."""
    nests = [loops for loops in found if loops is not None]
    sums = [loops for loops in nests if loops.reduces]
    count = len(sums[-1].extents)
    ranks = [ir.RankedTensorType(op.results[0].type).rank for op in fills]
    return (
        len(nests) == len(found)
        and count > 1
        and all(loops.reduces_rows and len(loops.extents) == count for loops in sums)
        and (sums[-1].extents[-1] == OPEN or sums[-1].extents[-1] in LENGTHS)
        and all(len(loops.extents) in (count - 1, count) for loops in nests)
        and all(loops.extents == sums[-1].extents[: len(loops.extents)] for loops in nests)
        and all(rank == count - 1 for rank in ranks)
        # Sums alone are faster by fours: so the lanes of four are added up at once.
        and any(len(loops.extents) == count and not loops.reduces for loops in nests)
    )


def _config(loops: Loops, outer: int) -> ir.Attribute:
    ones, zeros = [1] * outer, [0] * outer
    if len(loops.extents) == outer:
        return config(vector_common_parallel=ones)
    along = "vector_reduction" if loops.reduces else "vector_inner_parallel"
    return config(vector_common_parallel=[*ones, 0], **{along: [*zeros, _WIDE]})
