"""`dovetail.reuse`: dead memory becomes that of another result."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create
from dovetail.dialects.dovetail.dialect import Dovetail
from dovetail.dialects.torch_facts.types import is_memory_type, is_tensor, tensor_info


class ReuseOp(Dovetail.Operation, name="reuse"):
    """Ends the life of `dead` as `dovetail.free` does, and gives its bytes, from the first one, to `memory`.

    What they hold is undefined; `memory` is row-major, as that of `dovetail.alloc`.
    `%e = "dovetail.reuse"(%d) : (!torch.tensor<[4],f32>) -> !torch.tensor<[2,2],f32>`
    """

    dead: Operand[Any]
    memory: Result[Any]

    def verify_invariants(self) -> bool:
        if not verify.is_as_declared(self):
            return True
        type_ = self.memory.type
        if not (is_memory_type(type_) and is_tensor(type_)):
            return verify.fail(self, f"expects a result of type '!torch.tensor' with static sizes, got '{type_}'")
        if tensor_info(self.dead.type) is None:
            return verify.fail(self, f"expects a tensor with static sizes to reuse, got '{self.dead.type}'")
        return verify.knows_attributes(self)


def reuse(dead: ir.Value, type_: ir.Type) -> ReuseOp:
    """Builds memory of the `!torch.tensor` type `type_` where `dead` was."""
    return create(ReuseOp, [dead], {}, [type_])
