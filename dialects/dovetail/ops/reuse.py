"""`dovetail.reuse`: dead memory becomes that of another result."""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import require_shaped_info, shaped_info, tensor_info


class ReuseOp(VerifiedOp, name="reuse"):
    """Ends the life of `dead` as `dovetail.free` does, and gives its bytes, from the first one, to `memory`.

    What they hold is undefined; `memory` is row-major, and `numbers` are its open sizes, as of `dovetail.alloc`.
    With `shared`, one region takes both, and reads each element of `dead` to compute the one that takes its place: that
    call ends its life, and `dovetail.free` follows. Sizes that are open are then those of `dead`.
    `%e = "dovetail.reuse"(%d) : (!torch.tensor<[4],f32>) -> !torch.tensor<[2,2],f32>`
    """

    dead: Operand[Any]
    numbers: Sequence[Operand[Any]]
    memory: Result[Any]
    optional = ("shared",)

    def problem(self) -> str:
        if verify.no_memory(self.memory.type):
            return verify.no_memory(self.memory.type)
        made, dead = require_shaped_info(self.memory.type), shaped_info(self.dead.type)
        is_same = self.is_shared and dead == made
        if tensor_info(self.dead.type) is None and not is_same:
            return f"expects a tensor with static sizes to reuse, got '{self.dead.type}'"
        return verify.missing_numbers(self.numbers, made.shape.count(None), "sizes")

    @property
    def is_shared(self) -> bool:
        """Whether a region reads `dead` while it writes `memory`."""
        return "shared" in self.attributes


def reuse(dead: ir.Value, type_: ir.Type, numbers: Sequence[ir.Value] = (), is_shared: bool = False) -> ReuseOp:
    """Builds memory of the `!torch.tensor` type `type_`, whose open sizes are `numbers`, where `dead` lies."""
    shared = {"shared": ir.UnitAttr.get()} if is_shared else {}
    return ReuseOp.build([dead, *numbers], [type_], **shared)
