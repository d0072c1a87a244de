"""Keeps a reduction apart from the products that it takes in: a loop that changes no number stands between them.

IREE would make one contraction of the two and unroll it; it should only where a factor lacks a dimension, as in a
product of matrices. LLVM would add products to their sum unrounded: `x * y` and `-x * y` would not add up to 0.
"""

from torch_mlir import ir

from dovetail.backends.elementary.go_through import behind_views, go_through
from dovetail.backends.elementary.loop import FLOATS
from dovetail.backends.elementary.rounded_terms import rounded
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info

_PRODUCT = "torch.aten.mul.Tensor"


def adds_products(op: ir.Operation) -> bool:
    """Whether `op` reduces floating-point products, or a view of them, of factors that have each dimension."""
    if kind(op) is not Kind.REDUCTION:
        return False
    made = behind_views(op.operands[0])
    if made is None or made.name != _PRODUCT:
        return False
    shapes = [info.shape for value in made.operands if (info := shaped_info(value.type)) is not None]
    product = require_shaped_info(made.results[0].type)
    return product.dtype in (*FLOATS, "float64") and all(shape == product.shape for shape in shapes)


def keep_apart(op: ir.Operation) -> None:
    """Has `op` take in rounded products; of half precision, which is rounded, each with its own sign."""
    is_half = require_shaped_info(op.operands[0].type).dtype not in ("float32", "float64")
    go_through(op, (lambda number: abs(number).with_sign_of(number)) if is_half else rounded)
