"""`dovetail.pow`: a power of numbers that are known only when the program runs."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import torch_type


class PowOp(VerifiedOp, name="pow"):
    """A power of Python floats, as `math.pow` takes it: what is no real number, or too large, raises an error.

    `%p = "dovetail.pow"(%base, %exponent) : (!torch.float, !torch.float) -> !torch.float`
    """

    base: Operand[Any]
    exponent: Operand[Any]
    power: Result[Any]

    def problem(self) -> str:
        return verify.no_floats(self)


def pow_(base: ir.Value, exponent: ir.Value) -> PowOp:
    """Builds `base` to the power of `exponent`."""
    return PowOp.build([base, exponent], [torch_type("float")])
