"""Variances and means by channel of images that lie channels last: sums of columns, which are read once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from dovetail.dialects.building.cloning import constant_none
from dovetail.dialects.statements.recompute import pin
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.types import tensor_info, with_shape
from dovetail.passes.costs.gpu_shares import ROW_TILE, part_of_columns
from dovetail.passes.rewriting.constants import boolean, constant, integer_list
from dovetail.passes.rewriting.rules import create, shape
from dovetail.passes.rewriting.slices import Slice
from dovetail.passes.rewriting.sums import SUM, quotient, reduced_dims, sum_over, with_sizes

_MOMENTS = "torch.aten.var_mean.correction"


def gives_moments(op: ir.Operation) -> bool:
    """Whether `op` gives the variance and the mean of each channel of images of float32, whose sizes are known."""
    info = tensor_info(op.operands[0].type) if op.name == _MOMENTS else None
    if info is None or info.dtype != "float32" or len(info.shape) != 4 or reduced_dims(op) != [0, 2, 3]:
        return False
    return number(op.operands[2]) is not None and boolean(op.operands[3]) is not None


def moments(images: ir.Value, correction: float) -> tuple[ir.Value, ir.Value]:
    """Builds the variance and the mean of each channel of `images`, which is their last dimension; the others are 1.

    The images are read once, in parts, the moments of which are merged (Chan, Golub and LeVeque, "Algorithms for
    computing the sample variance", 1983); where they don't make such parts, each pixel is one. The first mean is off by
    what its sum was rounded. The sum of the deviations from it says by how much, and corrects both it and their
    squares. Numbers that are equal deviate from the mean by nothing, as in ATen's kernel, which reads once.
    """
    *pixels, channels = shape(images)
    count = prod(pixels)
    part = part_of_columns(count, channels)
    parts = _Parts(images) if part is None else _parts(images, count, part)
    about = _mean(parts.means())
    deviations = parts.deviations(about)
    rest, squares = _mean(deviations), _mean(parts.with_variances(_of(deviations, "mul", deviations, deviations)))
    # Both results come from the one, and may be compared; the other is added up beside it, of what is read once.
    # `about` is computed once without that: a backward is given the mean itself, which is as small and needs no images.
    pin(rest.owner)
    pin(squares.owner)
    # Rounding may leave less than nothing of them.
    left = create("torch.aten.relu", [_of(rest, "sub", squares, _of(rest, "mul", rest, rest))], rest.type)
    found = _corrected(left, count, correction), _of(rest, "add", about, rest)
    return with_sizes(found[0], (1, 1, 1, channels)), with_sizes(found[1], (1, 1, 1, channels))


@dataclass(frozen=True)
class _Parts:
    """Images in parts of equal size.

    Attributes:
        near: by part and channel, a number near the mean.
        beside: how far the mean is from that; None of single pixels.
        variances: of each part; None of single pixels.
    """

    near: ir.Value
    beside: ir.Value | None = None
    variances: ir.Value | None = None

    def means(self) -> ir.Value:
        return self.near if self.beside is None else _of(self.near, "add", self.near, self.beside)

    def deviations(self, about: ir.Value) -> ir.Value:
        """How far the means are from `about`, which the sum of what may be large would round."""
        found = _of(self.near, "sub", self.near, about)
        return found if self.beside is None else _of(found, "add", found, self.beside)

    def with_variances(self, squares: ir.Value) -> ir.Value:
        return squares if self.variances is None else _of(squares, "add", squares, self.variances)


def _parts(images: ir.Value, count: int, part: int) -> _Parts:
    """Parts of `part` pixels, of which some, far apart, have a mean that all are compared with.

    Whatever lies where, the sum of squares about that is at most `1 + part / ROW_TILE` times the one about the part's
    own mean: decision 61.
    """
    channels = shape(images)[-1]
    apart = with_sizes(images, (count // part, ROW_TILE, part // ROW_TILE, channels))
    some = with_sizes(Slice(apart, 2, 0, 1, 1).build(), (count // part, ROW_TILE, channels))
    near = quotient(_sum(some, [1]), ROW_TILE)
    pixels = with_sizes(images, (count // part, part, channels))
    far = _of(pixels, "sub", pixels, near)
    beside, squares = quotient(_sum(far, [1]), part), quotient(_sum(_of(far, "mul", far, far), [1]), part)
    return _Parts(near, beside, _of(beside, "sub", squares, _of(beside, "mul", beside, beside)))


def _corrected(variance: ir.Value, count: int, correction: float) -> ir.Value:
    if not correction:
        return variance
    factor = count / (count - correction) if count > correction else math.inf
    return create("torch.aten.mul.Scalar", [variance, constant(factor)], variance.type)


def _mean(values: ir.Value) -> ir.Value:
    """Builds the mean of each channel."""
    *sizes, _ = shape(values)
    return quotient(sum_over(values, range(len(sizes))), prod(sizes))


def _sum(values: ir.Value, dims: Sequence[int]) -> ir.Value:
    kept = with_shape(values.type, [1 if dim in dims else size for dim, size in enumerate(shape(values))])
    return create(SUM, [values, integer_list(dims), constant(True), constant_none()], kept)


def _of(like: ir.Value, name: str, first: ir.Value, second: ir.Value) -> ir.Value:
    """Builds a sum, difference or product of tensors, of the type of `like`."""
    factor = [] if name == "mul" else [constant(1)]
    return create(f"torch.aten.{name}.Tensor", [first, second, *factor], like.type)
