"""Variances and means by channel of images that lie channels last: sums of columns, which are read twice."""

import math
from math import prod

from torch_mlir import ir

from dovetail.dialects.building.cloning import constant_none
from dovetail.dialects.statements.recompute import pin
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.types import tensor_info, with_shape
from dovetail.passes.rewriting.constants import boolean, constant, integer_list
from dovetail.passes.rewriting.rules import create, shape
from dovetail.passes.rewriting.sums import SUM, quotient, reduced_dims

_MOMENTS = "torch.aten.var_mean.correction"
_PIXELS = (0, 1, 2)
"""The dimensions of images in the order of memory, without that of channels."""


def gives_moments(op: ir.Operation) -> bool:
    """Whether `op` gives the variance and the mean of each channel of images of float32, whose sizes are known."""
    info = tensor_info(op.operands[0].type) if op.name == _MOMENTS else None
    if info is None or info.dtype != "float32" or len(info.shape) != 4 or reduced_dims(op) != [0, 2, 3]:
        return False
    return number(op.operands[2]) is not None and boolean(op.operands[3]) is not None


def moments(images: ir.Value, correction: float) -> tuple[ir.Value, ir.Value]:
    """Builds the variance and the mean of each channel of `images`, which is their last dimension; the others are 1.

    The first mean is off by what its sum was rounded. The sum of the deviations from it says by how much, and corrects
    both it and their squares (Chan, Golub and LeVeque, "Algorithms for computing the sample variance", 1983). Numbers
    that are equal deviate from the mean by nothing, as in ATen's kernel, which reads once.
    """
    count = prod(shape(images)[dim] for dim in _PIXELS)
    about = quotient(_sum(images), count)
    deviations = _of(images, "sub", images, about)
    rest = quotient(_sum(deviations), count)
    squares = quotient(_sum(_of(images, "mul", deviations, deviations)), count)
    # Both results come from the one, and may be compared; the other is added up beside it, of what is read once.
    pin(rest.owner)
    pin(squares.owner)
    # Rounding may leave less than nothing of them.
    left = create("torch.aten.relu", [_of(rest, "sub", squares, _of(rest, "mul", rest, rest))], rest.type)
    return _corrected(left, count, correction), _of(rest, "add", about, rest)


def _corrected(variance: ir.Value, count: int, correction: float) -> ir.Value:
    if not correction:
        return variance
    factor = count / (count - correction) if count > correction else math.inf
    return create("torch.aten.mul.Scalar", [variance, constant(factor)], variance.type)


def _sum(images: ir.Value) -> ir.Value:
    kept = with_shape(images.type, (1, 1, 1, shape(images)[-1]))
    return create(SUM, [images, integer_list(_PIXELS), constant(True), constant_none()], kept)


def _of(like: ir.Value, name: str, first: ir.Value, second: ir.Value) -> ir.Value:
    """Builds a sum, difference or product of tensors, of the type of `like`."""
    factor = [] if name == "mul" else [constant(1)]
    return create(f"torch.aten.{name}.Tensor", [first, second, *factor], like.type)
