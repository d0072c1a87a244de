"""Sums of rows that are computed in the loop that computes the rows."""

from math import prod

from torch_mlir import ir

from dovetail.backends.target import SINGLE_ROWS
from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.names import LIST, STORE
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.types import ShapedInfo, require_shaped_info

_LONGEST_ROW = 12288
"""Elements of a row of which two lie on the stack, of 128 KiB."""

_SHORTEST_PAIRED, _LONGEST_PAIRED = 256, 6144
"""The same of rows that vectors don't fill, taken by twos."""

_TILE = 64
"""Elements of float32 that IREE computes at once."""

_MOST_ROWS = 32
"""Rows of one tile; of others, their largest divisor below it."""


def row_sum(value: ir.Value, rows_by_twos: bool = False, by_blocks: bool = False) -> ir.Value | None:
    """The sum of each row of `value`, of float32, where something else uses `value` too and the code is good.

    The loop over `value` then computes both: IREE would compute each of its elements once for either. Where its pieces
    are `rows_by_twos`, an even number of rows is good, too, and where they are `by_blocks`, rows that go one by one.
    """
    info, users = require_shaped_info(value.type), [use.owner.operation for use in value.uses]
    if info.dtype != "float32" or len(info.shape) < 2:
        return None
    sums = [user.results[0] for user in users if user.name == "torch.aten.sum.dim_IntList" and _adds_rows(user, info)]
    is_near = (
        keeps_rows_near(info)
        or (rows_by_twos and _gains_by_twos(info))
        or (by_blocks and goes_one_by_one(info) and _has_memory(value))
    )
    return sums[0] if is_near and len(sums) == 1 < len(users) else None


def keeps_rows_near(info: ShapedInfo) -> bool:
    """Whether IREE makes good code of a loop over `info`'s elements that sums rows: two of them lie on the stack.

    It takes rows by twos, and tiles of an odd number of rows apart again where vectors don't fill a row. Then it finds
    each row's largest number once for each vector, not once.
    """
    *rows, length = info.shape
    if length is None or length > _LONGEST_ROW:
        return False
    known = [size for size in rows if size is not None]
    if length % _TILE == 0 or len(known) < len(rows):
        return length % _TILE == 0
    count = prod(known)
    return count % 2 == 1 or count <= _MOST_ROWS or count % _MOST_ROWS == 0


def _gains_by_twos(info: ShapedInfo) -> bool:
    """Whether pairs of rows make good code: what a shorter row needs is computed twice as fast as it is kept."""
    *rows, length = info.shape
    known = [size for size in rows if size is not None]
    is_even = len(known) == len(rows) and prod(known) % 2 == 0
    return is_even and length is not None and _SHORTEST_PAIRED <= length <= _LONGEST_PAIRED


def goes_one_by_one(info: ShapedInfo) -> bool:
    """Whether rows of `info` go one by one, `by_blocks`: of open length, or of known sizes and some hundred numbers.

    IREE does not always distribute an open number of such rows of known length, where several results take them.
    """
    length = info.shape[-1] if len(info.shape) > 1 else 0
    return length is None or (info.is_static and length in SINGLE_ROWS)


def _has_memory(value: ir.Value) -> bool:
    """Whether there is memory for a row of `value` until something else than its sum takes it.

    One of known length lies on the stack, one of open length where that something is stored: see
    `backends/worker/kept_rows.py`.
    """
    if require_shaped_info(value.type).shape[-1] is not None:
        return True
    takers = [use.owner.operation for use in value.uses if kind(use.owner.operation) is not Kind.REDUCTION]
    if len(takers) != 1 or kind(takers[0]) is not Kind.POINTWISE or takers[0].results[0].type != value.type:
        return False
    return [use.owner.name for use in takers[0].results[0].uses] == [STORE]


def _adds_rows(op: ir.Operation, info: ShapedInfo) -> bool:
    """Whether `op` adds up the last dimension of `info`'s alone, which it may keep as one of size 1."""
    rows, result = info.shape[:-1], require_shaped_info(op.results[0].type)
    if not rows or info.shape[-1] == 1 or result.dtype not in ("float32", "float64"):
        return False
    return listed_dims(op) == [len(rows)] and result.shape in (rows, (*rows, 1))


def listed_dims(op: ir.Operation) -> list[int]:
    """The dimensions that `op`, which reduces, lists by number; none where it lists none."""
    at, rank = row(op).reduces_at, len(require_shaped_info(op.operands[0].type).shape)
    named = made_by(op.operands[at], LIST) if at is not None and at < len(op.operands) else None
    numbers = [] if named is None else [made_by(operand, "torch.constant.int") for operand in named.operands]
    return [ir.IntegerAttr(number.attributes["value"]).value % rank for number in numbers if number is not None]
