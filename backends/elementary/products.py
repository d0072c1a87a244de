"""Keeps IREE from making one contraction of products and their sum: a loop that changes no number stands between them.

It would unroll that; it should only where a factor lacks a dimension, as in products of matrices.
"""

from torch_mlir import ir

from dovetail.backends.elementary.go_through import behind_views, go_through
from dovetail.backends.elementary.loop import FLOATS
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.types import require_shaped_info

_PRODUCT = "torch.aten.mul.Tensor"


def adds_products(op: ir.Operation) -> bool:
    """Whether `op` reduces floating-point products, or a view of them, of factors that have each dimension."""
    if kind(op) is not Kind.REDUCTION:
        return False
    made = behind_views(op.operands[0])
    if made is None or made.name != _PRODUCT:
        return False
    product, *factors = (require_shaped_info(value.type) for value in (made.results[0], *made.operands))
    return product.dtype in (*FLOATS, "float64") and all(each.shape == product.shape for each in factors)


def keep_apart(op: ir.Operation) -> None:
    """Has `op` add up each number with its own sign, which LLVM drops again."""
    go_through(op, lambda number: abs(number).with_sign_of(number))
