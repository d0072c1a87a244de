"""`dovetail.copy`: the same value, in memory of its own."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import is_value_type


class CopyOp(VerifiedOp, name="copy"):
    """`value` in memory that nothing else has: what is handed out, or saved from what may change.

    Values have no memory, so a `torch.aten.clone` of one is that one, and passes drop it; a copy stays where it is, and
    two copies of one value stay two. In a region there is none: each result of a region has memory of its own.
    `%1 = "dovetail.copy"(%0) : (!torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32>`
    """

    value: Operand[Any]
    copied: Result[Any]

    def problem(self) -> str:
        if not is_value_type(self.value.type):
            return f"expects a value of type '!torch.vtensor', got '{self.value.type}'"
        return verify.another_type(self.copied, self.value.type)


def copy(value: ir.Value) -> CopyOp:
    """Builds a copy of `value` at the current insertion point and location."""
    return CopyOp.build([value], [value.type])
