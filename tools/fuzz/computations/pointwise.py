"""Lines that compute each element by itself, or of two."""

import torch

from dovetail.tools.fuzz.rules import Rule, always, where

_F = "torch.nn.functional"


def is_real(tensor: torch.Tensor) -> bool:
    """Of any floating-point type."""
    return tensor.is_floating_point()


POINTWISE = (
    Rule(6, always("{0} + {1}"), operands=2),
    Rule(5, always("{0} * {1}"), operands=2),
    Rule(3, always("{0} - {1}"), operands=2),
    Rule(2, where(is_real, "{0} / ({1}.abs() + 1)"), operands=2),
    Rule(1, where(is_real, "{0} / {1}"), operands=2),
    Rule(1, where(is_real, "torch.maximum({0}, {1})"), operands=2),
    Rule(1, where(is_real, "torch.minimum({0}, {1})"), operands=2),
    Rule(0.7, where(is_real, "torch.atan2({0}, {1})"), operands=2),
    Rule(0.7, where(is_real, "torch.copysign({0}, {1})"), operands=2),
    Rule(0.7, where(is_real, "torch.hypot({0}, {1})"), operands=2),
    Rule(0.7, where(is_real, "torch.lerp({0}, {1}, 0.25)"), operands=2),
    Rule(0.7, where(is_real, "torch.addcmul({0}, {0}, {1}, value=0.5)"), operands=2),
    Rule(2, always("{0} * 2")),
    Rule(1, always("-{0}")),
    Rule(1, always("{0}.abs()")),
    Rule(1, where(is_real, "{0} * 0.3 + 1")),
    *(
        Rule(0.8, where(is_real, template))
        for template in (
            "{0}.tanh()",
            "{0}.sigmoid()",
            "{0}.exp()",
            "({0}.abs() + 1).log()",
            "{0}.log()",
            "{0}.sin()",
            "{0}.cos()",
            "{0}.square()",
            "{0}.abs().sqrt()",
            "({0}.abs() + 0.1).rsqrt()",
            "{0}.reciprocal()",
            "{0} ** 3",
            "{0}.erf()",
            "{0}.atan()",
            "{0}.expm1()",
            "{0}.abs().log1p()",
            "{0}.relu()",
            f"{_F}.gelu({{0}})",
            f"{_F}.gelu({{0}}, approximate='tanh')",
            f"{_F}.silu({{0}})",
            f"{_F}.softplus({{0}})",
            f"{_F}.elu({{0}})",
            f"{_F}.leaky_relu({{0}}, 0.1)",
            f"{_F}.logsigmoid({{0}})",
        )
    ),
)
