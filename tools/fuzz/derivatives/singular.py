"""Lines whose derivatives are infinite, zero or none: of other results they leave the gradients alone."""

from dovetail.tools.fuzz.computations.pointwise import is_real
from dovetail.tools.fuzz.rules import Rule, where

SINGULAR = tuple(
    Rule(1, where(is_real, template))
    for template in (
        "{0}.relu().sqrt()",
        "{0}.abs().sqrt()",
        "{0}.square().sqrt()",
        "{0}.abs() ** 0.25",
        "{0}.relu().log()",
        "{0}.square().sum().sqrt()",
        "{0} * 0; {1}.norm()",
        "{0}.clamp(-1, 1).acos()",
        "{0}.floor()",
        "{0}.sign()",
        "{0}.clone().zero_()",
        "{0} * {0}.detach()",
        "{0}.detach().clone()",
        "torch.zeros_like({0})",
        "{0} * 2",
    )
)

REDRAWN = Rule(1, where(is_real, "torch.nn.functional.dropout({0}, 0.3)"))
