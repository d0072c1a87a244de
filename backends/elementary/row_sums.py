"""Sums of rows that are computed in the loop that computes the rows."""

from math import prod

from torch_mlir import ir

from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.types import ShapedInfo, require_shaped_info

_LONGEST_ROW = 12288
"""Elements of a row of which two lie on the stack, of 128 KiB."""

_SHORTEST_PAIRED, _LONGEST_PAIRED = 256, 6144
"""The same of rows that vectors don't fill, taken by twos."""

_TILE = 64
"""Elements of float32 that IREE computes at once."""

_MOST_ROWS = 32
"""Rows of one tile; of others, their largest divisor below it."""


def row_sum(value: ir.Value, rows_by_twos: bool = False) -> ir.Value | None:
    """The sum of each row of `value`, of float32, where something else uses `value` too and the code is good.

    The loop over `value` then computes both: IREE would compute each of its elements once for either. Where its pieces
    are `rows_by_twos`, an even number of rows is good, too.
    """
    info, users = require_shaped_info(value.type), [use.owner.operation for use in value.uses]
    if info.dtype != "float32" or len(info.shape) < 2:
        return None
    sums = [user.results[0] for user in users if user.name == "torch.aten.sum.dim_IntList" and _adds_rows(user, info)]
    is_near = keeps_rows_near(info) or (rows_by_twos and _gains_by_twos(info))
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


def _adds_rows(op: ir.Operation, info: ShapedInfo) -> bool:
    """Whether `op` adds up the last dimension of `info`'s alone, which it may keep as one of size 1."""
    rows, result = info.shape[:-1], require_shaped_info(op.results[0].type)
    if not rows or info.shape[-1] == 1 or result.dtype not in ("float32", "float64"):
        return False
    named = made_by(op.operands[1], LIST)
    numbers = [] if named is None else [made_by(operand, "torch.constant.int") for operand in named.operands]
    dims = [ir.IntegerAttr(number.attributes["value"]).value for number in numbers if number is not None]
    return dims in ([-1], [len(rows)]) and result.shape in (rows, (*rows, 1))
