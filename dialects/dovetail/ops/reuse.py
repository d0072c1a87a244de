"""`dovetail.reuse`: dead memory becomes that of another result."""

from typing import Any

from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import tensor_info


class ReuseOp(VerifiedOp, name="reuse"):
    """Ends the life of `dead` as `dovetail.free` does, and gives its bytes, from the first one, to `memory`.

    What they hold is undefined; `memory` is row-major, as that of `dovetail.alloc`.
    `%e = "dovetail.reuse"(%d) : (!torch.tensor<[4],f32>) -> !torch.tensor<[2,2],f32>`
    """

    dead: Operand[Any]
    memory: Result[Any]

    def problem(self) -> str:
        if tensor_info(self.dead.type) is None:
            return f"expects a tensor with static sizes to reuse, got '{self.dead.type}'"
        return verify.no_memory(self.memory.type)
