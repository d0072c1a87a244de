"""Which ops may stand in a region though sizes of their tensors are known only when the program runs.

IREE takes two open sizes that meet for equal; here they must surely be. Nothing is broadcast by an open size that
happens to be 1.
"""

from collections.abc import Mapping, Sequence

from torch_mlir import ir

from dovetail.dialects.attributes import RANGE, SIZES
from dovetail.dialects.reading import attribute, producer, users
from dovetail.dialects.sizes.bound_sizes import Range
from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.sizes.size_expressions import bounds
from dovetail.dialects.sizes.symbols import (
    KnownSize,
    facts_of,
    is_open_number,
    is_open_op,
    known_sizes,
    symbols,
    used_symbols,
)
from dovetail.dialects.torch_facts.names import UNPACK
from dovetail.dialects.torch_facts.ops import Kind, row
from dovetail.dialects.torch_facts.transposition import reorders
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info
from dovetail.passes.costs.gpu_shares import MOST_IN_A_ROW
from dovetail.passes.placement.reasons import EMPTY, NO_ROWS, OPEN, SHORT_ROWS, SUM_TYPE, UNRELATED
from dovetail.passes.rewriting.constants import integer
from dovetail.passes.rewriting.sums import reduced_dims

_SHORTEST, _SHORTEST_OPEN = 256, 1024
"""Of rows on a GPU, of known length and of an open one, which the module's hints tell."""


def open_refusal(op: ir.Operation, device: str) -> str:
    """Why an op with open sizes can't stand in a region for a type of `device`; "" if it can, or has none."""
    if not is_open_op(op):
        return ""
    facts, tensors = row(op), [value for value in (*op.operands, *op.results) if shaped_info(value.type) is not None]
    sizes = [known_sizes(value) for value in tensors]
    if facts.kind not in (Kind.POINTWISE, Kind.REDUCTION) or any(map(is_open_number, op.operands)):
        return OPEN.of()
    if any(each is None for each in sizes) or not can_be_sized(op):
        return OPEN.of()
    if facts.kind is Kind.POINTWISE:
        *operands, result = [each for each in sizes if each is not None]
        return "" if all(_meets(operand, result) for operand in operands) else UNRELATED.of()
    if device != "cpu" and (refusal := _row_refusal(op)):
        return refusal
    info = require_shaped_info(op.operands[0].type)
    if facts.needs_elements and any(bounds(size, ranges_of(op))[0] < 1 for size in _reduced(op, sizes[0] or ())):
        return EMPTY.of()
    is_exact = info.dtype == "float32" or (info.dtype == "float64" and _ends_as_float32(op))
    return SUM_TYPE.of() if facts.is_sum and not is_exact else ""


def _ends_as_float32(op: ir.Operation) -> bool:
    """Whether all that is computed of a result in float64 becomes float32 before anyone sees it.

    The sum of a region adds up one number after the other: that is exact for float32 alone.
    """
    if len(op.results) != 1 or row(op).kind not in (Kind.POINTWISE, Kind.REDUCTION, Kind.VIEW):
        return False
    result = shaped_info(op.results[0].type)  # none of a list of tensors
    is_float32 = result is not None and result.dtype == "float32"
    return is_float32 or all(map(_ends_as_float32, users(op.results[0])))


def _row_refusal(op: ir.Operation) -> str:
    """Why no kernel for GPUs reduces `op`, of open sizes, better than ATen's; "" if one does.

    A workgroup takes one row of an open number: of several IREE masks the last ones wrongly. On an H200, sums of rows
    of 64 take 2.6 times ATen's time, norms of rows of 768 three quarters; a softmax of rows of open length takes 14
    times that of ATen's one kernel at a length of 50, and the same at 4,096.
    """
    info = require_shaped_info(op.operands[0].type)
    if info.dtype != "float32" or not row(op).reduces_open_rows or reduced_dims(op) != [len(info.shape) - 1]:
        return NO_ROWS.of()
    length, expected = info.shape[-1], expected_info(op.operands[0])
    if length is not None and length > MOST_IN_A_ROW:
        return NO_ROWS.of()
    shortest = _SHORTEST if length is not None else _SHORTEST_OPEN
    return "" if expected is not None and expected.shape[-1] >= shortest else SHORT_ROWS.of()


def _reduced(op: ir.Operation, sizes: Sequence[KnownSize]) -> list[KnownSize]:
    """The `sizes` of the operand that the result does not have."""
    dims = reduced_dims(op)
    return list(sizes) if dims is None else [sizes[dim] for dim in dims]


def ranges_of(op: ir.Operation) -> Mapping[int, Range]:
    """Of the symbols that the function of `op` takes; a number that only data tells may be 0."""
    values = symbols(op.parent.opview)
    stated = {symbol: facts_of(value).get(RANGE) for symbol, value in values.items()}
    return {symbol: (each[0], each[1]) for symbol, each in stated.items() if each is not None}


def can_be_sized(op: ir.Operation) -> bool:
    """Whether the host can compute the sizes of the results, by the symbols that its function takes."""
    stated = attribute(op, SIZES)
    return stated is None or symbols(op.parent.opview).keys() >= used_symbols(stated)


def may_move(view: ir.Operation, device: str) -> bool:
    """Whether a view may move into a region though its sizes are open: one that only turns, adds or splits dimensions.

    On a GPU none is turned: tiles of open sizes do not go through shared memory. Only a dimension of known size is
    split, and on a CPU: what runs on the host would be copied for the region, unless it is rows.
    """
    if device == "cpu" and (reorders(view) or _splits_known(view)):
        return True
    facts = row(view)
    return facts.is_identity or facts.adds_dimension


def _splits_known(view: ir.Operation) -> bool:
    """Whether `view` splits a dimension of known size, or unpacks what such a view made."""
    split = producer(view.operands[0]) if view.name == UNPACK else view
    if split is None or split.name != "torch.aten.split_with_sizes" or any(map(is_open_number, split.operands)):
        return False
    dim = integer(split.operands[2])
    return dim is not None and require_shaped_info(split.operands[0].type).shape[dim] is not None


def _meets(operand: tuple[KnownSize, ...], result: tuple[KnownSize, ...]) -> bool:
    """Whether `operand`, where it is broadcast, is so by sizes that are 1 for sure."""
    pairs = zip(reversed(operand), reversed(result), strict=False)
    return all(own == full or (isinstance(own, int) and own == 1) for own, full in pairs)
