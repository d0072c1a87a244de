"""`dovetail.read`: memory to value."""

from typing import Any

from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.effects import Reads
from dovetail.dialects.dovetail.types import RefType
from dovetail.dialects.dovetail.verify import VerifiedOp


class ReadOp(VerifiedOp, name="read", traits=[Reads]):
    """The value that the memory holds now; later writes don't change it.

    `%0 = "dovetail.read"(%x) : (!dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>) -> !torch.vtensor<[4],f32>`
    """

    ref: Operand[RefType]
    value: Result[Any]

    def problem(self) -> str:
        return verify.another_tensor(self.value, self.ref)


def read(ref) -> ReadOp:
    """Builds a read of `ref` at the current insertion point and location."""
    return ReadOp(ref, ref.type.tensor_type)
