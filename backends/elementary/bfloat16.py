"""Rounds numbers of bfloat16 wherever eager rounds them: what several ops take is one number to all of them.

- IREE computes bfloat16 in float32, and drops the conversions there and back within a kernel. An op would take a number
  that no bfloat16 is, another op the same one from memory; of a product less its row's largest, nothing would be 0.
- MLIR makes one conversion of that from whole numbers to float32 and that on to bfloat16. It would round int32 once,
  where eager rounds twice; and on CPUs without instructions for bfloat16 (AVX512-BF16), LLVM calls a function for it
  that IREE does not link.
"""

from collections.abc import Iterable

from torch_mlir import ir
from torch_mlir.dialects import func

from dovetail.backends.elementary.loop import element_type, from_builtin, loop, to_builtin
from dovetail.backends.elementary.scalar import Scalar
from dovetail.dialects.memory.roots import behind_views
from dovetail.dialects.reachable import reachable
from dovetail.dialects.torch_facts.element_types import INTEGERS
from dovetail.dialects.torch_facts.exactness import deciding_operands
from dovetail.dialects.torch_facts.names import STORE
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.row import Rounding
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info

_ENDS = (func.ReturnOp.OPERATION_NAME, STORE)


def round_bfloat16(op: ir.Operation) -> None:
    """Has ops take the numbers of bfloat16 that `op` computes as memory would hold them, if any computes with them.

    What is stored is rounded there. `op` takes whole numbers rounded that become bfloat16 by way of float32.
    """
    _round_whole_numbers(op)
    for value in op.results if _rounds(op) else ():
        if _is_computed_with(value):
            _round(value, list(value.uses))


def _round_whole_numbers(op: ir.Operation) -> None:
    made = behind_views(op.operands[0]) if _conversion(op) == ("float32", "bfloat16") else None
    if made is not None and (types := _conversion(made)) and types[0] in INTEGERS:
        _round(op.operands[0], [use for use in op.operands[0].uses if use.owner == op])


def _round(value: ir.Value, uses: list[ir.OpOperand]) -> None:
    """Has `uses` take the numbers of `value` as bfloat16 holds them."""
    op = value.owner
    with op.location, ir.InsertionPoint.after(op):
        info = require_shaped_info(value.type)
        [rounded] = loop(to_builtin(value), info, element_type(info), _to_bfloat16)
        number = from_builtin(rounded, value.type)
    for use in uses:
        use.owner.operands[use.operand_number] = number


def _to_bfloat16(number: Scalar) -> Scalar:
    """A float32 number rounded to the nearest that bfloat16 holds, of two the even one; NaN as it is.

    In whole numbers: nobody can tell that it is a conversion, and drop it.
    """
    bits = number.bits
    nearest = bits.plus(bits.right(16).masked(1)).plus(0x7FFF).masked(-0x10000).as_float()
    return number.equals(number).if_true(nearest, number)


def _rounds(op: ir.Operation) -> bool:
    """Whether `op` computes numbers of bfloat16 in float32, and does not give back what it was given."""
    if kind(op) in (Kind.VIEW, Kind.CONSTANT, Kind.UNKNOWN) or "bfloat16" not in _dtypes(op.results):
        return False
    return row(op).rounding is not Rounding.NEVER or not _dtypes(op.operands) <= {"bfloat16", "bool"}


def _passes_on(op: ir.Operation) -> bool:
    """Whether `op` moves or picks numbers of bfloat16, alike before and after they are rounded."""
    if kind(op) is Kind.VIEW:
        return True
    is_alike = row(op).rounding is Rounding.NEVER and not row(op).tells_subnormals and not deciding_operands(op)
    return is_alike and not _rounds(op) and _dtypes(op.results) == {"bfloat16"}


def _is_computed_with(value: ir.Value) -> bool:
    """Whether an op computes with `value`, or with what others pass on of it."""

    def users(value: ir.Value) -> list[ir.Operation]:
        return [use.owner.operation for use in value.uses if use.owner.name not in _ENDS]

    def onward(value: ir.Value) -> Iterable[ir.Value]:
        return (result for user in users(value) if _passes_on(user) for result in user.results)

    return any(not _passes_on(user) for each in reachable([value], onward) for user in users(each))


def _dtypes(values: Iterable[ir.Value]) -> set[str]:
    return {info.dtype for value in values if (info := shaped_info(value.type)) is not None}


def _conversion(op: ir.Operation) -> tuple[str, str] | None:
    """The element types of the one tensor that a pointwise op takes, and of its result."""
    taken = [info.dtype for operand in op.operands if (info := shaped_info(operand.type)) is not None]
    given = [info.dtype for result in op.results if (info := shaped_info(result.type)) is not None]
    return (taken[0], given[0]) if kind(op) is Kind.POINTWISE and len(taken) == len(given) == 1 else None
