"""`dovetail.part`: some rows, columns or planes of memory, to write a piece of a result to."""

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects.ext import Operand, Result

from dovetail.dialects.dovetail import verify
from dovetail.dialects.dovetail.build import i64
from dovetail.dialects.dovetail.types import OPEN
from dovetail.dialects.dovetail.verify import VerifiedOp, value_of
from dovetail.dialects.torch_facts.types import is_memory, memory_type, shaped_info, with_shape


class PartOp(VerifiedOp, name="part"):
    """Of `memory`, each `step`th element along dimension `dim` from `start` on: as many as the type of the result says.

    A library call that is given it as `out` writes to it, and so what it computes need not be copied there. An open
    `start`, and then an open size along `dim`, are `numbers`.
    `%p = "dovetail.part"(%m) {dim = 1 : i64, start = 2 : i64} : (!torch.tensor<[4,6],f32>) -> !torch.tensor<[4,3],f32>`
    """

    memory: Operand[Any]
    numbers: Sequence[Operand[Any]]
    dim: ir.IntegerAttr
    start: ir.IntegerAttr
    part: Result[Any]
    optional = ("step",)
    dimension = value_of("dim")
    stride = value_of("step", 1)

    def problem(self) -> str:
        whole, part = shaped_info(self.memory.type), shaped_info(self.part.type)
        if whole is None or not is_memory(self.memory):
            return f"expects memory, of type '!torch.tensor', got '{self.memory.type}'"
        if part is None or not 0 <= self.dimension < len(whole.shape) or len(part.shape) != len(whole.shape):
            return f"expects a part of '{self.memory.type}' along dimension {self.dimension}, got '{self.part.type}'"
        sizes, length = [*whole.shape], part.shape[self.dimension]
        full, sizes[self.dimension] = sizes[self.dimension], length
        wrong = (
            verify.no_count(self, "start", may_be_open=True)
            or verify.another_type(self.part, with_shape(self.memory.type, sizes))
            or verify.missing_numbers(self.numbers, [self.first, length].count(None), "ends")
            or verify.no_count(self, "step", least=1)
        )
        if wrong or self.first is None or length is None or full is None:
            return wrong
        end = self.first + (length - 1) * self.stride + 1 if length else self.first
        return "" if end <= full else f"expects an end within {full}, got {end}"

    @property
    def first(self) -> int | None:
        """Where the part begins along that dimension, in elements; None where that is open."""
        start = ir.IntegerAttr(self.start).value
        return None if start == OPEN else start


def part(
    memory: ir.Value, dim: int, start: int | None, type_: ir.Type, numbers: Sequence[ir.Value] = (), step: int = 1
) -> PartOp:
    """Builds the part of `memory` that holds a value of `type_`, from `start` along `dim` on, by `numbers` if open."""
    steps = {"step": i64(step)} if step != 1 else {}
    first = i64(OPEN if start is None else start)
    return PartOp.build([memory, *numbers], [memory_type(type_)], dim=i64(dim), start=first, **steps)
