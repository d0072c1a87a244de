"""Has ops take numbers rounded as eager rounds them, by loops that change no number and that nothing is fused across.

- IREE makes one contraction of a reduction and the products that it takes in, and unrolls it; it should only where a
  factor lacks a dimension, as in a product of matrices. LLVM adds products to a sum unrounded: `x * y` and `-x * y`
  would not add up to 0, and `a * a - b * b`, where `a` is `b`, might be less than 0, of which the root is NaN.
- IREE computes bfloat16 in float32, and drops the conversions there and back within a loop.
- MLIR makes one conversion of that from whole numbers to float32 and that on to bfloat16. It would round int32 once,
  where eager rounds twice; and on CPUs without instructions for bfloat16 (AVX512-BF16), LLVM calls a function for it
  that IREE does not link.
"""

from collections.abc import Callable, Iterable

from torch_mlir import ir

from dovetail.backends.elementary.loop import FLOATS, element_type, from_builtin, loop, to_builtin
from dovetail.backends.elementary.scalar import Scalar
from dovetail.dialects.reachable import reachable
from dovetail.dialects.reading import producer
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.row import INTEGERS, Rounding
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info


def keep_products_apart(op: ir.Operation) -> None:
    """Has `op`, if it reduces floating-point products of factors that have each dimension, take them in rounded.

    Of half precision, which is rounded, each with its own sign.
    """
    made = _behind_views(op.operands[0]) if kind(op) is Kind.REDUCTION else None
    if made is None or made.name != "torch.aten.mul.Tensor":
        return
    product = require_shaped_info(made.results[0].type)
    factors = [info for value in made.operands if (info := shaped_info(value.type)) is not None]
    if any(factor.shape != product.shape for factor in factors):
        return
    if product.dtype in ("float32", "float64"):
        _go_through(op, _by_its_bits)
    elif product.dtype in FLOATS:
        _go_through(op, lambda number: abs(number).with_sign_of(number))


def round_terms(op: ir.Operation) -> None:
    """Has `op`, if it adds or subtracts floating-point numbers, take them as eager rounds them.

    Of bfloat16, which is computed in float32, products are exact there. So are those of float16 on most CPUs, but
    some compute it as it is.
    """
    for index, term in enumerate(list(op.operands)[:2]) if row(op).adds else ():
        info = shaped_info(term.type)
        if info is not None and info.dtype in ("float16", "float32", "float64") and _may_be_product(term):
            _go_through(op, _by_its_bits, index)


def round_bfloat16(op: ir.Operation) -> None:
    """Has `op` take rounded numbers if it makes another type of bfloat16 that is computed here."""
    results = [shaped_info(value.type) for value in op.results]
    if not results or not all(info is not None and info.dtype != "bfloat16" for info in results):
        return
    for index, value in enumerate(op.operands):
        info = shaped_info(value.type)
        if info is not None and info.dtype == "bfloat16" and _behind_views(value) is not None:
            _go_through(op, _to_bfloat16, index)


def round_whole_numbers(op: ir.Operation) -> None:
    """Has `op` take rounded numbers if it converts to bfloat16 what was converted to float32 from whole numbers."""
    if _conversion(op) != ("float32", "bfloat16"):
        return
    made = _behind_views(op.operands[0])
    if made is not None and (types := _conversion(made)) and types[0] in INTEGERS:
        _go_through(op, _to_bfloat16)


def _go_through(op: ir.Operation, function: Callable[[Scalar], Scalar], index: int = 0) -> None:
    """Has `op` take `function` of each number of the operand at `index`: the number that it should be."""
    operand = op.operands[index]
    info = require_shaped_info(operand.type)
    with op.location, ir.InsertionPoint(op):
        [same] = loop(to_builtin(operand), info, element_type(info), function)
        op.operands[index] = from_builtin(same, operand.type)


def _by_its_bits(number: Scalar) -> Scalar:
    """`number` by way of its bits, at most those of the last NaN but one: LLVM can't tell that this changes nothing."""
    bits = number.bits
    largest = (1 << ir.IntegerType(bits.type).width - 1) - 1
    return bits.at_most(largest - 1).as_float()


def _to_bfloat16(number: Scalar) -> Scalar:
    """A float32 number rounded to the nearest that bfloat16 holds, of two the even one; NaN as it is."""
    bits = number.bits
    nearest = bits.plus(bits.right(16).masked(1)).plus(0x7FFF).masked(-0x10000).as_float()
    return number.equals(number).if_true(nearest, number)


def _behind_views(value: ir.Value) -> ir.Operation | None:
    """The op that computes what `value` is, or is a view of; None for an argument."""
    made = producer(value)
    while made is not None and kind(made) is Kind.VIEW:
        made = producer(made.operands[0])
    return made


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


def _conversion(op: ir.Operation) -> tuple[str, str] | None:
    """The element types of the one tensor that a pointwise op takes, and of its result."""
    taken = [info.dtype for operand in op.operands if (info := shaped_info(operand.type)) is not None]
    given = [info.dtype for result in op.results if (info := shaped_info(result.type)) is not None]
    return (taken[0], given[0]) if kind(op) is Kind.POINTWISE and len(taken) == len(given) == 1 else None
