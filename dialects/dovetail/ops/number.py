"""`dovetail.number`: the number in memory that the call made for it."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail.effects import Reads
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import is_torch_type, torch_type

_HELD_AS = {"int": "int64", "bool": "int64", "float": "float64"}


class NumberOp(VerifiedOp, name="number", traits=[Reads]):
    """A Python number that a call returns and only its run tells: `@forward` makes a tensor of it, `@call` reads that.

    `%n = "dovetail.number"(%o) : (!dovetail.ref<!torch.vtensor<[],si64>, strided<[]>>) -> !torch.int`
    """

    ref: Operand[RefType]
    number: Result[Any]

    def problem(self) -> str:
        held = self.ref.type.shaped
        kinds = [kind for kind, dtype in _HELD_AS.items() if held.dtype == dtype and held.shape == ()]
        if any(is_torch_type(self.number.type, kind) for kind in kinds):
            return ""
        return f"expects an int or a bool in one int64, or a float in one float64, got '{self.ref.type}'"

    @property
    def is_truth(self) -> bool:
        """Whether the number is one of `True` and `False`."""
        return is_torch_type(self.number.type, "bool")


def number(ref: ir.Value, kind: str) -> NumberOp:
    """Builds the read of an "int", a "bool" or a "float"."""
    return NumberOp.build([ref], [torch_type(kind)])
