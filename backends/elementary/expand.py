"""Puts our own code into the text of regions: elementary functions, and what keeps ops apart that IREE would fuse."""

from collections.abc import Callable

from torch_mlir import ir

from dovetail.backends.elementary.bfloat16 import round_bfloat16
from dovetail.backends.elementary.computed_again import compute_again
from dovetail.backends.elementary.fence import fence, fence_around, is_open_across, is_open_extremum
from dovetail.backends.elementary.functions import FUNCTIONS, OF_DOUBLES
from dovetail.backends.elementary.loop import FLOATS, element_type, from_builtin, loop, to_builtin
from dovetail.backends.elementary.roundings import keep_products_apart, round_terms
from dovetail.backends.elementary.row_sums import row_sum
from dovetail.backends.elementary.scalar import Scalar
from dovetail.backends.elementary.sums_at_once import add_up_at_once
from dovetail.dialects.context import make_context
from dovetail.dialects.reading import body
from dovetail.dialects.torch_facts.transposition import is_transposition
from dovetail.dialects.torch_facts.types import require_shaped_info


def with_own_functions(text: str, rows_by_twos: bool = False, by_blocks: bool = False) -> str:
    """`text`, in the torch dialect, with our own code for what it has of `FUNCTIONS` and `OF_DOUBLES`.

    What is half as precise, and of whole numbers, is computed in float32, as eager does. Terms of a sum and products
    that a reduction takes in are rounded before it. Kept apart from what reads them are large transpositions, and
    extrema of open sizes, unless loops go `by_blocks`. Numbers of bfloat16 are rounded where eager rounds them. Text
    that does not parse stays: IREE's compiler, which parses it again, says why.
    """
    context = make_context()
    # IREE's input converts between torch's tensors and MLIR's own by a dialect that the bindings don't know.
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        try:
            module = ir.Module.parse(text)
        except ir.MLIRError:
            return text
        for function in module.body.operations:
            compute_again(body(function))
            ops = body(function)
            for op in ops:
                keep_products_apart(op)
                round_terms(op)
                round_bfloat16(op)
            if not by_blocks:
                add_up_at_once(function)
            ops = body(function)
            for op in [op for op in ops if (is_transposition(op) and not by_blocks) or is_open_extremum(op, by_blocks)]:
                fence(op.results[0])
            for op in [op for op in ops if is_open_across(op)]:
                fence_around(op)
            for op, own in [(op, own) for op in ops if (own := _own_function(op))]:
                _replace(op, own, rows_by_twos, by_blocks)
        return str(module)


def is_summed_by_twos(op: ir.Operation) -> bool:
    """Whether the loop that computes `op` adds up its rows, too, if loops go by two rows, and else not."""
    if _own_function(op) is None or row_sum(op.results[0]) is not None:
        return False
    return row_sum(op.results[0], rows_by_twos=True) is not None


def _own_function(op: ir.Operation) -> Callable[[Scalar], Scalar] | None:
    if op.name not in FUNCTIONS and op.name not in OF_DOUBLES:
        return None
    dtype = require_shaped_info(op.results[0].type).dtype
    functions = FUNCTIONS if dtype in FLOATS else OF_DOUBLES if dtype == "float64" else {}
    return functions.get(op.name)


def _replace(op: ir.Operation, function: Callable[[Scalar], Scalar], rows_by_twos: bool, by_blocks: bool) -> None:
    operand, result = op.operands[0], op.results[0]
    source, target = require_shaped_info(operand.type), require_shaped_info(result.type)
    total = row_sum(result, rows_by_twos, by_blocks)
    with op.location, ir.InsertionPoint(op):
        computed, *sums = loop(to_builtin(operand), source, element_type(target), function, total)
        value = from_builtin(computed, result.type)
        if total is not None:
            total.replace_all_uses_with(from_builtin(sums[0], total.type))
            total.owner.erase()
    result.replace_all_uses_with(value)
    op.erase()
