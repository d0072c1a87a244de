"""Has ops take numbers rounded as eager rounds them, by loops that change no number and that nothing is fused across.

- IREE makes one contraction of a reduction and the products that it takes in, and unrolls it; it should only where a
  factor lacks a dimension, as in a product of matrices. LLVM adds products to a sum unrounded: `x * y` and `-x * y`
  would not add up to 0, and `a * a - b * b`, where `a` is `b`, might be less than 0, of which the root is NaN.
"""

from collections.abc import Iterable

from torch_mlir import ir

from dovetail.backends.elementary.loop import element_type, from_builtin, loop, to_builtin
from dovetail.backends.elementary.scalar import Scalar
from dovetail.dialects.memory.roots import behind_views
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.element_types import FLOATS
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.row import Rounding
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info


def keep_products_apart(op: ir.Operation) -> None:
    """Has `op`, if it reduces floating-point products of factors that have each dimension, take them in rounded."""
    made = behind_views(op.operands[0]) if kind(op) is Kind.REDUCTION else None
    if made is None or made.name != "torch.aten.mul.Tensor":
        return
    product = require_shaped_info(made.results[0].type)
    factors = [info for value in made.operands if (info := shaped_info(value.type)) is not None]
    if product.dtype in FLOATS and all(factor.shape == product.shape for factor in factors):
        _go_through(op)


def round_terms(op: ir.Operation) -> None:
    """Has `op`, if it adds or subtracts floating-point numbers, take them as eager rounds them.

    Most CPUs compute float16 in float32, where its products are exact, but some as it is. Of bfloat16 all is rounded.
    """
    for index, term in enumerate(list(op.operands)[:2]) if row(op).adds else ():
        info = shaped_info(term.type)
        if info is not None and info.dtype in FLOATS and _may_be_product(term):
            _go_through(op, index)


def _go_through(op: ir.Operation, index: int = 0) -> None:
    """Has `op` take each number of the operand at `index` by way of its bits."""
    operand = op.operands[index]
    info = require_shaped_info(operand.type)
    with op.location, ir.InsertionPoint(op):
        [same] = loop(to_builtin(operand), info, element_type(info), _by_its_bits)
        op.operands[index] = from_builtin(same, operand.type)


def _by_its_bits(number: Scalar) -> Scalar:
    """`number` by way of its bits, at most those of the last NaN but one: LLVM can't tell that this changes nothing."""
    bits = number.bits
    largest = (1 << ir.IntegerType(bits.type).width - 1) - 1
    return bits.at_most(largest - 1).as_float()


def _may_be_product(term: ir.Value) -> bool:
    """Whether the last step that computed `term` may be a multiplication, that of an elementary function too."""

    def behind(value: ir.Value) -> Iterable[ir.Value]:
        """Where the numbers of `value` come from that no step has rounded."""
        made = producer(value)
        return made.operands if made is not None and row(made).rounding is Rounding.NEVER else ()

    made = (row(op) for value in reachable([term], behind) if (op := producer(value)) is not None)
    return any(
        known.rounding is Rounding.OFTEN and (known.kind is Kind.POINTWISE or known.name == "prod") for known in made
    )
