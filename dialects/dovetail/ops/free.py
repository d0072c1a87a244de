"""`dovetail.free`: a function lets go of memory."""

from typing import Any

from torch_mlir.dialects.ext import Operand

from dovetail.dialects.dovetail.verify import VerifiedOp


class FreeOp(VerifiedOp, name="free"):
    """Ends the life of `memory` and of all views of it: nothing in this function uses them afterwards.

    It goes back to the allocator unless it was handed out, or an op made another tensor that shares it.
    `"dovetail.free"(%d) : (!torch.tensor<[4],f32>) -> ()`
    """

    memory: Operand[Any]
