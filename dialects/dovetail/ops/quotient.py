"""`dovetail.quotient`: a quotient of numbers that are known only when the program runs, as eager's backward has it."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import torch_type


class QuotientOp(VerifiedOp, name="quotient"):
    """A quotient of floats by IEEE 754's rules: by 0 it is infinite, or NaN, where `torch.aten.div.float` raises.

    `%q = "dovetail.quotient"(%dividend, %divisor) : (!torch.float, !torch.float) -> !torch.float`
    """

    dividend: Operand[Any]
    divisor: Operand[Any]
    quotient: Result[Any]

    def problem(self) -> str:
        return verify.no_floats(self)


def quotient(dividend: ir.Value, divisor: ir.Value) -> QuotientOp:
    """Builds `dividend` divided by `divisor`."""
    return QuotientOp.build([dividend, divisor], [torch_type("float")])
