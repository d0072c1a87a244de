"""`aten.slice` in numbers."""

from dataclasses import dataclass, replace

from torch_mlir import ir

from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.types import tensor_info, with_shape
from dovetail.passes.rewriting.constants import constant, integer, is_none
from dovetail.passes.rewriting.rules import create, shape

SLICE = "torch.aten.slice.Tensor"


@dataclass(frozen=True)
class Slice:
    """The elements `start`, `start + step`, ... of `base` along `dim`, `count` of them, all within `base`."""

    base: ir.Value
    dim: int
    start: int
    count: int
    step: int

    @property
    def stop(self) -> int:
        """One past the last element; of an empty slice, its start."""
        return self.start + (self.count - 1) * self.step + 1 if self.count else self.start

    def sliced(self, inner: "Slice") -> "Slice":
        """`inner`, a slice of this one along the same dimension, as a slice of `base`."""
        return replace(self, start=self.start + inner.start * self.step, count=inner.count, step=self.step * inner.step)

    def build(self) -> ir.Value:
        """Builds the slice; of everything, it is `base` itself."""
        sizes = shape(self.base)
        if self.count == sizes[self.dim]:
            return self.base
        numbers = [constant(value) for value in (self.dim, self.start, self.stop, self.step)]
        type_ = with_shape(self.base.type, (*sizes[: self.dim], self.count, *sizes[self.dim + 1 :]))
        return create(SLICE, [self.base, *numbers], type_)


def slice_of(value: ir.Value) -> Slice | None:
    """What the op that computes `value` slices; None for another op, open sizes, and bounds that are no constants."""
    op = made_by(value, SLICE)
    if op is None or tensor_info(op.operands[0].type) is None:
        return None
    base, *operands = op.operands
    dim, start, stop, step = map(integer, operands)
    bounds = zip((start, stop), operands[1:3], strict=True)
    if dim is None or step is None or any(number is None and not is_none(each) for number, each in bounds):
        return None
    dim %= len(shape(base))
    taken = range(*slice(start, stop, step).indices(shape(base)[dim]))
    return Slice(base, dim, taken.start, len(taken), step)
