"""`dovetail.part`: some rows, columns or planes of memory, to write a piece of a result to."""

from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import create, i64
from dovetail.dialects.dovetail.verify import VerifiedOp
from dovetail.dialects.torch_facts.types import is_memory, memory_type, tensor_info, with_shape


class PartOp(VerifiedOp, name="part"):
    """Of `memory`, what lies along dimension `dim` from `start` on: as much as the type of the result says.

    A library call that is given it as `out` writes to it, and so what it computes need not be copied there.
    `%p = "dovetail.part"(%m) {dim = 1 : i64, start = 2 : i64} : (!torch.tensor<[4,6],f32>) -> !torch.tensor<[4,3],f32>`
    """

    memory: Operand[Any]
    dim: ir.IntegerAttr
    start: ir.IntegerAttr
    part: Result[Any]

    def problem(self) -> str:
        whole, part = tensor_info(self.memory.type), tensor_info(self.part.type)
        if whole is None or not is_memory(self.memory):
            return f"expects memory of static sizes, of type '!torch.tensor', got '{self.memory.type}'"
        if part is None or not 0 <= self.dimension < len(whole.shape) or len(part.shape) != len(whole.shape):
            return f"expects a part of '{self.memory.type}' along dimension {self.dimension}, got '{self.part.type}'"
        sizes = [*whole.shape]
        sizes[self.dimension] = part.shape[self.dimension]
        wrong = verify.no_count(self, "start") or verify.another_type(self.part, with_shape(self.memory.type, sizes))
        end = self.first + part.shape[self.dimension]
        is_inside = end <= whole.shape[self.dimension]
        return wrong or ("" if is_inside else f"expects an end within {whole.shape[self.dimension]}, got {end}")

    @property
    def dimension(self) -> int:
        """The dimension, counted from 0."""
        return ir.IntegerAttr(self.dim).value

    @property
    def first(self) -> int:
        """Where the part begins along that dimension, in elements."""
        return ir.IntegerAttr(self.start).value


def part(memory: ir.Value, dim: int, start: int, type_: ir.Type) -> PartOp:
    """Builds the part of `memory` that holds a value of `type_`, from `start` along `dim` on."""
    return create(PartOp, [memory], {"dim": i64(dim), "start": i64(start)}, [memory_type(type_)])
