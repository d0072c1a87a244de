"""Lines whose results jump: comparisons, selections, rounding, casts."""

from dovetail.tools.fuzz.computations.pointwise import is_real
from dovetail.tools.fuzz.rules import Rule, always, where

_F = "torch.nn.functional"

DECISIONS = (
    *(
        Rule(1, where(is_real, template), operands=2)
        for template in (
            "{0} > {1}",
            "{0} == {1}",
            "torch.where({0} > {1}, {0}, {1})",
            "torch.where({0} == {1}, {0} * 2, {1})",
            "({0} > 0.5) & ({1} < 1)",
            "{0}.masked_fill({1} > 0, 1.5)",
            "{0} * ({1} >= 0)",
            "{0} * ({1} != 0).to(torch.float32)",
        )
    ),
    *(
        Rule(1, where(is_real, template))
        for template in (
            "{0} > 0",
            "{0} == 0",
            "{0}.clamp(-1, 1)",
            "{0}.clamp(min=0.25)",
            "{0}.round()",
            "{0}.floor()",
            "{0}.ceil()",
            "{0}.trunc()",
            "{0}.frac()",
            "{0}.sign()",
            "{0}.isnan()",
            "{0}.isfinite() * {0}",
            "{0}.signbit()",
            "{0}.nan_to_num(0.5, 2.0, -2.0)",
            "torch.where({0} > 0, {0}, 0.0)",
            f"{_F}.hardtanh({{0}})",
            f"{_F}.hardswish({{0}})",
            f"{_F}.threshold({{0}}, 0.1, 0.5)",
        )
    ),
)

CASTS = (
    Rule(2, always("{0}.to(torch.float32)")),
    Rule(1, always("{0}.to(torch.float64)")),
    Rule(1, where(is_real, "{0}.to(torch.bfloat16)")),
    Rule(1, where(is_real, "{0}.to(torch.float16)")),
    Rule(1, where(is_real, "{0}.to(torch.bfloat16).to(torch.float32)")),
    Rule(1, where(is_real, "{0}.nan_to_num(0.0, 9.0, -9.0).clamp(-9, 9).to(torch.int64)")),
    Rule(1, where(is_real, "({0}.nan_to_num(0.0, 9.0, -9.0).clamp(-9, 9) * 8).to(torch.int32)")),
    Rule(1, where(is_real, "({0}.nan_to_num(0.0, 3.0, -3.0) * 40).clamp(0, 200).to(torch.uint8)")),
    Rule(1, where(is_real, "({0}.nan_to_num(0.0, 3.0, -3.0) * 40).clamp(-100, 100).to(torch.int8)")),
    Rule(1, always("{0}.bool()")),
    Rule(1, always("{0}.bool().to(torch.float32)")),
)
