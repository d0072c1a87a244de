"""`dovetail.pow`, `dovetail.quotient` and `dovetail.sqrt`: arithmetic of floats that only a run tells."""

from typing import Any

from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp


class PowOp(VerifiedOp, name="pow"):
    """A power of Python floats, as `math.pow` takes it: what is no real number, or too large, raises an error.

    `%p = "dovetail.pow"(%base, %exponent) : (!torch.float, !torch.float) -> !torch.float`
    """

    base: Operand[Any]
    exponent: Operand[Any]
    power: Result[Any]

    def problem(self) -> str:
        return verify.no_floats(self)


class QuotientOp(VerifiedOp, name="quotient"):
    """A quotient of floats by IEEE 754's rules: by 0 it is infinite, or NaN, where `torch.aten.div.float` raises.

    Eager's backward has such.
    `%q = "dovetail.quotient"(%dividend, %divisor) : (!torch.float, !torch.float) -> !torch.float`
    """

    dividend: Operand[Any]
    divisor: Operand[Any]
    quotient: Result[Any]

    def problem(self) -> str:
        return verify.no_floats(self)


class SqrtOp(VerifiedOp, name="sqrt"):
    """The square root of a Python float, as `math.sqrt` takes it: of a negative number, the call raises ValueError.

    `%r = "dovetail.sqrt"(%s) : (!torch.float) -> !torch.float`
    """

    number: Operand[Any]
    root: Result[Any]

    def problem(self) -> str:
        return verify.no_floats(self)
