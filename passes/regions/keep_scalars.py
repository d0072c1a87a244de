"""Pass `keep-scalars`: half precision and a number, computed in float32 as ATen does."""

from torch_mlir import ir

from dovetail.dialects.torch_facts.element_types import HALF_PRECISION
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.rounding import rounded
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info, with_dtype
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.constants import cast, constant
from dovetail.passes.rewriting.rules import apply_rules, create

_WIDE = "float32"


class KeepScalarsPass(Pass, name="keep-scalars", runs_at="program"):
    """Computes in float32 where half precision meets a number that it can't hold, and rounds the result once.

    IREE rounds the number first: 1e-9 is 0 then, and 524287 infinite. ATen multiplies and divides by the number in
    float32, a scalar tensor's as well. It rounds what it adds, and the factor `alpha` of that, but not their product.

    Before:  `%1 = torch.aten.mul.Scalar %0, %tiny` of float16
    After:   `%1 = torch.aten._to_copy %0, float32; %2 = torch.aten.mul.Scalar %1, %tiny; %3 = _to_copy %2, float16`
    """

    def run(self, module: ir.Module) -> bool:
        return apply_rules(module, _RULES, takes_open=True)


def _by_number(op: ir.Operation) -> ir.Value | None:
    """The rule for a product with a number, or a quotient by one."""
    dtype, factor = _half(op), number(op.operands[1])
    if not dtype or (factor is not None and rounded(factor, dtype) == factor):
        return None
    return cast(_widened(op, [cast(op.operands[0], _WIDE), op.operands[1]]), dtype)


def _by_scalar_tensor(op: ir.Operation) -> ir.Value | None:
    """The rule for a product with a tensor of one number and another type, or a quotient by one."""
    dtype, (value, factor) = _half(op), op.operands
    info = require_shaped_info(factor.type)
    if not dtype or info.dtype == dtype or any(size != 1 for size in info.shape):
        return None
    return cast(_widened(op, [cast(cast(value, dtype), _WIDE), cast(factor, _WIDE)]), dtype)


def _with_factor(op: ir.Operation) -> ir.Value | None:
    """The rule for a sum or difference whose second operand, of `rsub` the first, is multiplied by `alpha`."""
    dtype, (*terms, factor) = _half(op), op.operands
    alpha = number(factor)
    if not dtype or alpha is None or abs(alpha) == 1:
        return None
    return cast(_widened(op, [*(_rounded(term, dtype) for term in terms), constant(rounded(alpha, dtype))]), dtype)


def _half(op: ir.Operation) -> str:
    """The element type of the op's result if it is one of half precision, else ""."""
    dtype = require_shaped_info(op.results[0].type).dtype
    return dtype if dtype in HALF_PRECISION else ""


def _rounded(term: ir.Value, dtype: str) -> ir.Value:
    """A tensor or a number, rounded to `dtype`, in float32."""
    if shaped_info(term.type) is not None:
        return cast(term if require_shaped_info(term.type).dtype == dtype else cast(term, dtype), _WIDE)
    value = number(term)
    return term if value is None else constant(rounded(value, dtype))


def _widened(op: ir.Operation, operands: list[ir.Value]) -> ir.Value:
    return create(op.name, operands, with_dtype(op.results[0].type, _WIDE))


_RULES = {
    **dict.fromkeys(("torch.aten.mul.Scalar", "torch.aten.div.Scalar"), _by_number),
    **dict.fromkeys(("torch.aten.mul.Tensor", "torch.aten.div.Tensor"), _by_scalar_tensor),
    **{
        f"torch.aten.{name}.{overload}": _with_factor
        for name in ("add", "sub", "rsub")
        for overload in ("Scalar", "Tensor")
    },
}
