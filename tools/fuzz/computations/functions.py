"""Lines that call what no table of ops has: custom autograd functions, opaque ops, random numbers."""

from dovetail.tools.fuzz.computations.pointwise import is_real
from dovetail.tools.fuzz.rules import Rule, where

FUNCTIONS = (
    Rule(1.5, where(is_real, "Square.apply({0})"), helper="Square"),
    Rule(1, where(is_real, "Twice.apply({0})"), helper="Twice"),
    Rule(0.7, where(is_real, "Square.apply(Square.apply({0}.tanh()))"), helper="Square"),
    Rule(3, where(is_real, "torch.ops.dovetail_fuzz.scale_by_layout({0})")),
    Rule(1.5, where(is_real, "torch.ops.dovetail_fuzz.scale_by_layout({0}.transpose(-1, -2).contiguous())")),
    Rule(1.5, where(is_real, "torch.nn.functional.dropout({0}, 0.3)")),
)
