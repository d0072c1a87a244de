"""Kernels that sum rows and compute them go one row at a time, if the region asks for it.

IREE takes several at once. Those of some hundred numbers lie as far apart as a cache repeats itself, and drive each
other out of it. The last ones of an open number it takes by code that has their number for an extent of vectors:
scalars. And it computes what else rows of open length need anew for each vector, since no tile is all of a tensor.
"""

from collections.abc import Sequence

from iree.compiler import ir

from dovetail.backends.worker.kept_rows import keep_in_result
from dovetail.backends.worker.lanes import goes_in_lanes, in_lanes, with_own_terms
from dovetail.backends.worker.loops import OPEN, Loops
from dovetail.backends.worker.read_loops import read_loops
from dovetail.backends.worker.tiles import Blocks, config

_ROWS, _WIDE = 32, 64
"""Rows that a thread is given at once, and numbers of a row: four vectors of the widest CPU's."""


LENGTHS = range(2 * _WIDE, 32 * _WIDE + 1)
"""Rows of known length that a region may have beside others, of which IREE tiles the others better."""


def tile_open_rows(ops: Sequence[ir.Operation]) -> None:
    """Asks for such tiles of `ops`, those of a kernel, if all of them go along rows or have a number for each."""
    found = [(op, read_loops(op, takes_open=True)) for op in ops if "iterator_types" in op.attributes]
    nests = [(op, loops) for op, loops in found if loops is not None]
    reductions = [(op, loops) for op, loops in nests if loops.reduces]
    fills = [op for op in ops if op.name == "linalg.fill"]
    if not reductions or len(nests) < len(found) or not _are_rows([loops for _, loops in nests], fills):
        return
    root, last = reductions[-1]
    outer, length = len(last.extents) - 1, last.extents[-1]
    # An open number of rows of known length IREE does not always distribute then, where several results take them.
    has_rest = length == OPEN or (not last.is_open and length % _WIDE > 0)
    # Alone, they are faster by fours where they don't go in lanes: so the lanes of four are taken together at once.
    is_alone = not any(len(loops.extents) > outer and not loops.reduces for _, loops in nests)
    if is_alone and not (has_rest and all(goes_in_lanes(op) for op, _ in reductions)):
        return
    block = root.block
    for op, _ in reductions if has_rest else ():
        root = _shortened(op, length == OPEN)
    _tile([view.operation for view in block.operations], root, outer)


def _shortened(op: ir.Operation, is_open: bool) -> ir.Operation:
    """Has `op` take rows together in fewer steps; gives what takes the last, of which the kernel's tiles are asked."""
    if len(op.results) > 1:
        if is_open:
            keep_in_result(op)
        return op
    op = with_own_terms(op)
    return in_lanes(op).across if goes_in_lanes(op) else op


def _are_rows(nests: Sequence[Loops], fills: Sequence[ir.Operation]) -> bool:
    """Whether loops are of rows that all reductions take, or of as many numbers as rows."""
    sums = [loops for loops in nests if loops.reduces]
    count = len(sums[-1].extents)
    ranks = [ir.RankedTensorType(op.results[0].type).rank for op in fills]
    return (
        count > 1
        and all(loops.reduces_rows and len(loops.extents) == count for loops in sums)
        and (sums[-1].extents[-1] == OPEN or sums[-1].extents[-1] in LENGTHS)
        and all(len(loops.extents) in (count - 1, count) for loops in nests)
        and all(loops.extents == sums[-1].extents[: len(loops.extents)] for loops in nests)
        and all(rank == count - 1 for rank in ranks)
    )


def _tile(ops: Sequence[ir.Operation], root: ir.Operation, outer: int) -> None:
    """Asks for a row at a time of `ops`, of which `root` reduces rows, or their lanes, last."""
    ones, zeros = [1] * outer, [0] * outer
    for op in ops:
        loops = read_loops(op, takes_open=True)
        if op.name == "linalg.fill":
            rank = ir.RankedTensorType(op.results[0].type).rank
            op.attributes["lowering_config"] = config(vector_common_parallel=[*ones, *[0] * (rank - outer)])
        elif loops is None:
            continue
        elif op == root:
            steps = (*zeros, min(loops.extents[-1] or _WIDE, _WIDE))
            form = Blocks((*ones[1:], _ROWS, 0), (*ones, 0), steps)
            op.attributes["compilation_info"] = ir.Attribute.parse(form.attribute())
        else:
            op.attributes["lowering_config"] = _config(loops, outer)


def _config(loops: Loops, outer: int) -> ir.Attribute:
    ones, zeros = [1] * outer, [0] * outer
    if len(loops.extents) == outer:
        return config(vector_common_parallel=ones)
    if len(loops.extents) > outer + 1:  # blocks, and their lanes
        return config(vector_common_parallel=[*ones, 0, 0], vector_reduction=[*zeros, 1, 0])
    along = "vector_reduction" if loops.reduces else "vector_inner_parallel"
    return config(vector_common_parallel=[*ones, 0], **{along: [*zeros, min(loops.extents[-1] or _WIDE, _WIDE)]})
