"""Keeps LLVM from adding to a product before it is rounded, which eager does: `a * a - b * b` is 0 where `a` is `b`.

Unrounded it may be less than 0, of which the root is NaN, and far from 0 where the product is large.
"""

from torch_mlir import ir

from dovetail.backends.elementary.go_through import go_through
from dovetail.backends.elementary.scalar import Scalar
from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.ops import Kind, row
from dovetail.dialects.torch_facts.row import Rounding
from dovetail.dialects.torch_facts.types import shaped_info

_ROUNDED = ("float16", "float32", "float64")


def round_terms(op: ir.Operation) -> None:
    """Has `op`, if it adds or subtracts floating-point numbers, take them as eager rounds them.

    Of bfloat16, which is computed in float32, products are exact there. So are those of float16 on most CPUs, but
    some compute it as it is.
    """
    if not row(op).adds:
        return
    for index, term in enumerate(list(op.operands)[:2]):
        info = shaped_info(term.type)
        if info is not None and info.dtype in _ROUNDED and _may_be_product(term):
            go_through(op, rounded, index)


def _may_be_product(term: ir.Value) -> bool:
    """Whether the last step that computed `term` may be a multiplication, that of an elementary function too."""
    pending, met = [term], {term}
    while pending:
        made = producer(pending.pop())
        if made is None:
            continue
        known = row(made)
        if known.rounding is Rounding.OFTEN and (known.kind is Kind.POINTWISE or known.name == "prod"):
            return True
        if known.rounding is Rounding.NEVER:
            more = set(made.operands) - met
            met |= more
            pending += more
    return False


def rounded(number: Scalar) -> Scalar:
    """`number` by way of its bits, at most those of the last NaN but one: LLVM can't tell that this changes nothing."""
    bits = number.bits
    largest = (1 << ir.IntegerType(bits.type).width - 1) - 1
    return bits.at_most(largest - 1).as_float()
