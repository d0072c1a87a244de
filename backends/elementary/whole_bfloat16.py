"""Rounds float32 that was made of whole numbers before bfloat16 is made of it.

MLIR makes one conversion of the two. It would round int32 once, where eager rounds twice; and on CPUs without
instructions for bfloat16 (AVX512-BF16), LLVM calls a function for it that IREE does not link.
"""

from torch_mlir import ir

from dovetail.backends.elementary.go_through import behind_views, go_through
from dovetail.backends.elementary.rounded_bfloat16 import rounded
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.row import INTEGERS
from dovetail.dialects.torch_facts.types import shaped_info


def round_whole_numbers(op: ir.Operation) -> None:
    """Has `op` take rounded numbers if it converts to bfloat16 what was converted to float32 from whole numbers."""
    if _conversion(op) != ("float32", "bfloat16"):
        return
    made = behind_views(op.operands[0])
    if made is not None and (types := _conversion(made)) and types[0] in INTEGERS:
        go_through(op, rounded)


def _conversion(op: ir.Operation) -> tuple[str, str] | None:
    """The element types of the one tensor that a pointwise op takes, and of its result."""
    taken = [info.dtype for each in op.operands if (info := shaped_info(each.type)) is not None]
    given = [info.dtype for each in op.results if (info := shaped_info(each.type)) is not None]
    return (taken[0], given[0]) if kind(op) is Kind.POINTWISE and len(taken) == len(given) == 1 else None
