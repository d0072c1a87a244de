"""Keeps IREE's and LLVM's hands off products: loops that change no number stand between them and what takes them.

IREE would make one contraction of products and their sum, and unroll it; it should only where a factor lacks a
dimension, as in products of matrices. LLVM would subtract from a product before it is rounded.
"""

from torch_mlir import ir

from dovetail.backends.elementary.go_through import behind_views, go_through
from dovetail.backends.elementary.loop import FLOATS
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.types import require_tensor_info

PRODUCT = "torch.aten.mul.Tensor"
_PRODUCTS = (PRODUCT, "torch.aten.mul.Scalar")
_DIFFERENCE = "torch.aten.sub.Tensor"
_EXPONENTIAL = "torch.aten.exp"


def adds_products(op: ir.Operation) -> bool:
    """Whether `op` reduces floating-point products, or a view of them, of factors that have each dimension."""
    if kind(op) is not Kind.REDUCTION:
        return False
    made = behind_views(op.operands[0])
    if made is None or made.name != PRODUCT:
        return False
    product, *factors = (require_tensor_info(value.type) for value in (made.results[0], *made.operands))
    return product.dtype in (*FLOATS, "float64") and all(each.shape == product.shape for each in factors)


def keep_apart(op: ir.Operation) -> None:
    """Has `op` add up each number with its own sign, which LLVM drops again."""
    go_through(op, lambda number: abs(number).with_sign_of(number))


def takes_from_product(op: ir.Operation) -> bool:
    """Whether `op` subtracts from a product in float32 or float64, for an exponential.

    Softmax does so with the largest of a row: unrounded, a large one less itself would be far from 0.
    """
    if op.name != _DIFFERENCE or not any(use.owner.name == _EXPONENTIAL for use in op.results[0].uses):
        return False
    made = behind_views(op.operands[0])
    in_float = require_tensor_info(op.operands[0].type).dtype in ("float32", "float64")
    return in_float and made is not None and made.name in _PRODUCTS


def round_product(op: ir.Operation) -> None:
    """Has `op` subtract from its first operand plus zero: LLVM may round the product after this sum, but no later."""
    go_through(op, lambda number: number + 0.0)
