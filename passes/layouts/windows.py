"""Maxima over windows of images that lie channels last, and their gradients, as regions compute them.

Pixels of an image are one dimension here, of which whole pixels are gathered: neighbouring threads read neighbouring
channels.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod

from torch_mlir import ir

from dovetail.dialects.reading import made_by, producer, users
from dovetail.dialects.statements.recompute import pin, recompute_policy
from dovetail.dialects.torch_facts.in_regions import GATHERS
from dovetail.dialects.torch_facts.numbers import number, uniform
from dovetail.dialects.torch_facts.ops import kind
from dovetail.dialects.torch_facts.row import IN_REGIONS
from dovetail.dialects.torch_facts.types import require_tensor_info, tensor_info, tensor_type, with_dtype, with_shape
from dovetail.passes.rewriting.constants import boolean, cast, constant, counting, full, integer_list, integers, named
from dovetail.passes.rewriting.pointwise import converts
from dovetail.passes.rewriting.rules import create, shape
from dovetail.passes.rewriting.sums import with_sizes

_MAXIMA = "torch.aten.max_pool2d_with_indices"
_GRADIENT = f"{_MAXIMA}_backward"
POOLING = (_MAXIMA, _GRADIENT)
_MOST_PLACES = 16
"""Of a window, of which a thread reads each: it holds a vector of all."""
_STEPS = {1: 0, 2: 1, 4: 2}
"""How far windows may lie apart, and by how many bits that shifts."""
_NO_ROW, _NO_COLUMN = -1, -_MOST_PLACES
"""In windows without them: no number of a place comes of these, which int8 holds."""
_NOWHERE = 4 * _NO_COLUMN
"""The place of what has no gradient: no number comes of two of those above either."""


@dataclass(frozen=True)
class Axis:
    """How windows lie along one dimension: `count` of them, `step` apart, over `size` pixels."""

    size: int
    count: int
    width: int
    step: int
    padding: int


@dataclass(frozen=True)
class Windows:
    """Windows over the rows and the columns of images, each of a few pixels."""

    rows: Axis
    columns: Axis


@dataclass(frozen=True)
class Maxima:
    """The largest numbers of windows, channels last.

    Attributes:
        largest: they themselves, one a window.
        places: the number of the place of each in its window; less than 0 if in none.
        is_cut: whether those that are at most 0 stand in none.
    """

    largest: ir.Value
    places: ir.Value
    is_cut: bool


def windows(op: ir.Operation) -> Windows | None:
    """The windows of an op that pools images, forward or backward, where regions had better do so; else None.

    They say which place of a window holds its maximum, where ATen says which pixel: nothing but the gradient may ask.
    """
    made = forward(op)
    found = _windows(made) if made is not None else None
    if made is None or found is None or recompute_policy(op) is not None:
        return None
    return found if all(_is_gradient(each, made) for each in users(made.results[1])) else None


def cuts(op: ir.Operation) -> ir.Operation | None:
    """What takes the gradient that `op` gives, and sets it to 0 where the pixel is at most 0, as that of a ReLU.

    Pixels that have a gradient are maxima, and as large as these: what stands in no place needs no look at pixels.
    """
    users_of = users(op.results[0]) if op.name == _GRADIENT else []
    cut = users_of[0] if len(users_of) == 1 else None
    if cut is None or cut.name != "torch.aten.where.self" or cut.operands[2] != op.results[0]:
        return None
    tested = made_by(cut.operands[0], "torch.aten.le.Scalar")
    if tested is None or number(tested.operands[1]) != 0 or uniform(cut.operands[1]) != 0:
        return None
    pixels = tested.operands[0]
    widened = made_by(pixels, "torch.aten._to_copy")
    if widened is not None and converts(widened) and require_tensor_info(pixels.type).dtype == "float32":
        pixels = widened.operands[0]
    is_alike = pixels == op.operands[1] and cut.results[0].type == op.results[0].type
    return cut if is_alike and recompute_policy(cut) is None else None


def are_cut(forward: ir.Operation) -> bool:
    """Whether all gradients of what `forward` pools are."""
    gradients = users(forward.results[1])
    return bool(gradients) and all(cuts(each) is not None for each in gradients)


def forward(op: ir.Operation) -> ir.Operation | None:
    """The op that finds the maxima, of one that pools images: itself, or whose places its gradient is given."""
    return op if op.name == _MAXIMA else made_by(op.operands[7], _MAXIMA)


def _is_gradient(op: ir.Operation, forward: ir.Operation) -> bool:
    """Whether `op` is the gradient of `forward`, of the same windows."""
    if op.name != _GRADIENT or op.operands[7] != forward.results[1] or op.operands[0] == forward.results[1]:
        return False
    stated = [(forward.operands[at], op.operands[at + 1]) for at in range(1, 5)]
    are_alike = all(integers(one) == integers(other) for one, other in stated)
    return are_alike and boolean(forward.operands[5]) == boolean(op.operands[6]) and recompute_policy(op) is None


def _windows(op: ir.Operation) -> Windows | None:
    source, result = tensor_info(op.operands[0].type), tensor_info(op.results[0].type)
    stated = [integers(each) for each in list(op.operands)[1:5]]
    if source is None or result is None or len(source.shape) != 4 or None in stated or recompute_policy(op) is not None:
        return None
    widths, steps, paddings, dilations = (each * 2 if len(each) == 1 else each for each in stated if each is not None)
    steps = steps or widths
    # Of dilated windows ATen's kernel for images that lie channels last takes all pixels.
    if any(each != 1 for each in dilations) or any(each not in _STEPS for each in steps):
        return None
    if widths[0] * widths[1] > _MOST_PLACES or source.shape[1] % 16 or source.dtype == "float64":
        return None
    of_both = zip(source.shape[2:], result.shape[2:], widths, steps, paddings, strict=True)
    return Windows(*(Axis(*each) for each in of_both))


def maxima(images: ir.Value, over: Windows, is_cut: bool, device: str) -> Maxima:
    """Builds the largest number of each window, and the number of its place in there, of images channels last.

    If the gradient `is_cut`, a maximum that is at most 0 stands in no place.

    Beyond the border, the pixel next to it is read again, which changes neither: the first of equal numbers counts,
    and the last NaN. Both are computed once, the one from the other's comparisons, and so are the images: else one
    pixel might be compared as two computations round it.
    """
    computed = producer(images)
    if computed is not None and kind(computed) in IN_REGIONS:
        pin(computed)
    pixels, sizes = _pixels(images), (over.rows.count, over.columns.count)
    taken = []
    for row, column in product(*(_taken(axis, rank, device) for axis, rank in _ranked(over))):
        index = _joined(row[0], column[0], over.columns.size, sizes)
        taken.append((_gathered(pixels, index), _numbered(row[1], column[1], over, sizes)))
    largest, place = taken[0]
    place = create("torch.aten.expand", [place, integer_list(shape(largest)), constant(False)], _of(largest, "int8"))
    if len(taken) == 1:
        place = _uncut(largest, place) if is_cut else place
    for left, (pixel, at) in zip(reversed(range(len(taken) - 1)), taken[1:], strict=True):
        wins, places = _wins(pixel, largest), [at, place]
        if is_cut and not left:
            # Before the last choice, whose result is pinned, and so no part of what computes places.
            places = [_uncut(pixel, at), _uncut(largest, place)]
        largest = create("torch.aten.where.self", [wins, pixel, largest], largest.type)
        place = create("torch.aten.where.self", [wins, *places], place.type)
    pin(largest.owner)
    pin(place.owner)
    batch, *_, channels = shape(images)
    whole = (batch, *sizes, channels)
    return Maxima(with_sizes(largest, whole), with_sizes(place, whole), is_cut)


def _of(tensor: ir.Value, dtype: str) -> ir.Type:
    return with_dtype(tensor.type, dtype)


def _wins(one: ir.Value, largest: ir.Value) -> ir.Value:
    is_larger = create("torch.aten.gt.Tensor", [one, largest], _of(one, "bool"))
    is_nan = create("torch.aten.ne.Tensor", [one, one], _of(one, "bool"))
    return create("torch.aten.logical_or", [is_larger, is_nan], _of(one, "bool"))


def _uncut(value: ir.Value, place: ir.Value) -> ir.Value:
    """`place` of those numbers of `value` that are not cut."""
    is_cut = create("torch.aten.le.Scalar", [value, constant(0)], _of(value, "bool"))
    return create("torch.aten.where.ScalarSelf", [is_cut, constant(_NOWHERE), place], _of(value, "int8"))


def gradient(given: ir.Value, places: ir.Value, over: Windows, device: str) -> ir.Value:
    """Builds the gradient of images from that of the maxima, and their places: of each pixel, of those that it is.

    It is computed once: whoever takes it would gather it anew.
    """
    pixels, found = _pixels(given), _pixels(places)
    sizes = (over.rows.size, over.columns.size)
    terms = []
    for row, column in product(*(_covering(axis, rank, device) for axis, rank in _ranked(over))):
        index = _joined(row[0], column[0], over.columns.count, sizes)
        taken = _gathered(pixels, index)
        place = _gathered(found, index)
        at = _numbered(row[1], column[1], over, sizes)
        is_here = create("torch.aten.eq.Tensor", [place, at], with_dtype(taken.type, "bool"))
        wide = taken if require_tensor_info(taken.type).itemsize == 4 else cast(taken, "float32")
        terms.append(create("torch.aten.where.ScalarOther", [is_here, wide, constant(0.0)], wide.type))
    total = reduce(lambda one, other: create("torch.aten.add.Tensor", [one, other, constant(1)], one.type), terms)
    dtype = require_tensor_info(given.type).dtype
    batch, *_, channels = shape(given)
    made = total if dtype == "float32" else cast(total, dtype)
    pin(made.owner)
    return with_sizes(made, (batch, *sizes, channels))


def _ranked(over: Windows) -> tuple[tuple[Axis, int], ...]:
    """Rows are of two dimensions, to meet columns."""
    return (over.rows, 2), (over.columns, 1)


def _taken(axis: Axis, rank: int, device: str) -> Iterator[tuple[ir.Value, ir.Value]]:
    """By place of a window, along one dimension: the pixel that is read for each window, and which place that is."""
    starts = _plus(_times(_counting(axis.count, rank, device), axis.step), -axis.padding)
    for place in range(axis.width):
        pixel = _within(_plus(starts, place), axis.size)
        yield pixel, _minus(pixel, starts)


def _covering(axis: Axis, rank: int, device: str) -> Iterator[tuple[ir.Value, ir.Value]]:
    """Along one dimension, the windows that each pixel may lie in, and in which place of it, if in any."""
    none = _NO_ROW if rank > 1 else _NO_COLUMN
    pixels = _plus(_counting(axis.size, rank, device), axis.padding)
    last = _divided(pixels, axis.step, device)
    for back in range(-(-axis.width // axis.step)):
        window = _plus(last, -back)
        place, read = _minus(pixels, _times(window, axis.step)), _within(window, axis.count)
        truth = with_dtype(place.type, "bool")
        is_read = create("torch.aten.eq.Tensor", [read, window], truth)
        is_inside = create("torch.aten.lt.Scalar", [place, constant(axis.width)], truth)
        holds = create("torch.aten.logical_and", [is_read, is_inside], truth)
        yield read, create("torch.aten.where.ScalarOther", [holds, place, constant(none)], place.type)


def _counting(size: int, rank: int, device: str) -> ir.Value:
    return with_sizes(counting(size, "int32", device), (size, *(1 for _ in range(rank - 1))))


def _times(value: ir.Value, factor: int) -> ir.Value:
    return value if factor == 1 else create("torch.aten.mul.Scalar", [value, constant(factor)], value.type)


def _divided(value: ir.Value, by: int, device: str) -> ir.Value:
    """The quotient, rounded down; regions would divide whole numbers in float64."""
    if by == 1:
        return value
    bits = full(tensor_type([], "int32"), constant(_STEPS[by]), named(device))
    return create("torch.aten.bitwise_right_shift.Tensor", [value, bits], value.type)


def _plus(value: ir.Value, more: int) -> ir.Value:
    return create("torch.aten.add.Scalar", [value, constant(more), constant(1)], value.type) if more else value


def _minus(value: ir.Value, less: ir.Value) -> ir.Value:
    return create("torch.aten.sub.Tensor", [value, less, constant(1)], value.type)


def _within(value: ir.Value, size: int) -> ir.Value:
    return create("torch.aten.clamp", [value, constant(0), constant(size - 1)], value.type)


def _joined(row: ir.Value, column: ir.Value, width: int, sizes: tuple[int, int]) -> ir.Value:
    """One number for a row and a column, of `width` columns, for each of `sizes`."""
    return create("torch.aten.add.Tensor", [_times(row, width), column, constant(1)], with_shape(row.type, sizes))


def _numbered(row: ir.Value, column: ir.Value, over: Windows, sizes: tuple[int, int]) -> ir.Value:
    """The number of a place in its window, as vectors of one channel."""
    return with_sizes(cast(_joined(row, column, over.columns.width, sizes), "int8"), (sizes[0] * sizes[1], 1))


def _pixels(images: ir.Value) -> ir.Value:
    batch, rows, columns, channels = shape(images)
    return with_sizes(images, (batch, rows * columns, channels))


def _gathered(pixels: ir.Value, index: ir.Value) -> ir.Value:
    batch, _, channels = shape(pixels)
    flat = with_sizes(index, (prod(shape(index)),))
    return create(GATHERS, [pixels, constant(1), flat], with_shape(pixels.type, (batch, *shape(flat), channels)))
