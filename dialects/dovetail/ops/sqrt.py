"""`dovetail.sqrt`: the root of a number that is known only when the program runs."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import torch_type


class SqrtOp(VerifiedOp, name="sqrt"):
    """The square root of a Python float, as `math.sqrt` takes it: of a negative number, the call raises ValueError.

    `%r = "dovetail.sqrt"(%s) : (!torch.float) -> !torch.float`
    """

    number: Operand[Any]
    root: Result[Any]

    def problem(self) -> str:
        return verify.no_floats(self)


def sqrt(number: ir.Value) -> SqrtOp:
    """Builds the root of `number`."""
    return SqrtOp.build([number], [torch_type("float")])
