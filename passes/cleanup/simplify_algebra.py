"""Pass `simplify-algebra`: arithmetic that changes nothing."""

from math import copysign

from torch_mlir import ir

from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.numbers import number, uniform
from dovetail.dialects.torch_facts.types import shaped_info, tensor_info
from dovetail.passes.base import Pass
from dovetail.passes.rewriting.constants import as_large, integer_list
from dovetail.passes.rewriting.rules import Rule, apply_rules, create, is_alike, shape


class SimplifyAlgebraPass(Pass, name="simplify-algebra", runs_at="joint"):
    """Drops arithmetic that changes no element, and reductions of one element each.

    Only what is exact for every element, NaN, infinities and -0.0 included, and only where the element type stays:
    `x * 1`, `x / 1`, `x - 0`, `x + 0` of integers, `x ** 1`, `-(-x)`, `relu(relu(x))`, `where(c, x, x)`, be it numbers
    or tensors full of them, expanded where `c` is larger; `x ** 2` is `x * x`, as ATen has it. Not `x + 0.0`, which
    makes +0.0 of -0.0; not the floating-point `sum` or `mean` of one element, which add it to +0.0; nothing of complex
    numbers.

    Before:  `%1 = torch.aten.mul.Scalar %0, %one; %2 = torch.aten.neg %1; %3 = torch.aten.neg %2`
    After:   `%0` for `%1` and for `%3`
    """

    def run(self, module: ir.Module) -> bool:
        return apply_rules(module, _RULES, takes_open=True)


def _unchanged_by(neutral: float, commutes: bool = False) -> Rule:
    """The rule for `x op (alpha * n)`: it is `x` where `n` is `neutral` and `alpha` 1.

    The sign of a zero counts for floating-point elements: `x - 0.0` and `x + -0.0` are `x`.
    """

    def rule(op: ir.Operation) -> ir.Value | None:
        first, second, *alphas = op.operands
        result = shaped_info(op.results[0].type)
        if result is None or result.is_complex or any(number(alpha) != 1 for alpha in alphas):
            return None
        for kept, other in ((first, second), (second, first)) if commutes else ((first, second),):
            value = uniform(other) if is_alike(kept, op.results[0]) else None
            if value == neutral and (copysign(1, value) == copysign(1, neutral) or not result.is_floating_point):
                return kept
        return None

    return rule


def _power(op: ir.Operation) -> ir.Value | None:
    base, exponent = op.operands[0], number(op.operands[1])
    info = shaped_info(base.type)
    if info is None or not is_alike(base, op.results[0]) or info.is_complex:
        return None
    if exponent == 1:
        return base
    return create("torch.aten.mul.Tensor", [base, base], base.type) if exponent == 2 else None


def _undone(op: ir.Operation) -> ir.Value | None:
    inner = made_by(op.operands[0], op.name)
    return inner.operands[0] if inner is not None and is_alike(inner.operands[0], op.results[0]) else None


def _done_already(op: ir.Operation) -> ir.Value | None:
    return op.operands[0] if made_by(op.operands[0], op.name) is not None else None


def _choice(op: ir.Operation) -> ir.Value | None:
    condition, first, second = op.operands
    value = uniform(condition)
    chosen = first if first == second or value else second if value is not None else None
    return None if chosen is None else as_large(chosen, op.results[0])


def _reduction(op: ir.Operation) -> ir.Value | None:
    source, result = op.operands[0], op.results[0]
    before, after = tensor_info(source.type), tensor_info(result.type)
    if before is None or after is None or before.numel != after.numel or before.dtype != after.dtype:
        return None
    if op.name == "torch.aten.sum.dim_IntList" and not before.is_integer:
        return None
    if source.type == result.type:
        return source
    return create("torch.aten.view", [source, integer_list(shape(result))], result.type)


_RULES: dict[str, Rule] = {
    "torch.aten.mul.Scalar": _unchanged_by(1),
    "torch.aten.mul.Tensor": _unchanged_by(1, commutes=True),
    "torch.aten.div.Scalar": _unchanged_by(1),
    "torch.aten.div.Tensor": _unchanged_by(1),
    "torch.aten.sub.Scalar": _unchanged_by(0.0),
    "torch.aten.sub.Tensor": _unchanged_by(0.0),
    "torch.aten.add.Scalar": _unchanged_by(-0.0),
    "torch.aten.add.Tensor": _unchanged_by(-0.0, commutes=True),
    "torch.aten.pow.Tensor_Scalar": _power,
    **dict.fromkeys(("torch.aten.neg", "torch.aten.bitwise_not", "torch.aten.logical_not"), _undone),
    **dict.fromkeys(("torch.aten.relu", "torch.aten.abs", "torch.aten.floor", "torch.aten.ceil"), _done_already),
    "torch.aten.where.self": _choice,
    **dict.fromkeys(("torch.aten.sum.dim_IntList", "torch.aten.amax", "torch.aten.amin"), _reduction),
}
