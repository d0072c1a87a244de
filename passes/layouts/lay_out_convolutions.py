"""Pass `lay-out-convolutions`: convolutions, and what is computed between them, have images that lie channels last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from torch_mlir import ir

from dovetail.dialects.attributes import SHOWS_ROWS, STRIDES, TURNED
from dovetail.dialects.dovetail import ReadOp
from dovetail.dialects.reading import Module, body, is_used, made_by, producer, users
from dovetail.dialects.sizes.symbols import KnownSize, in_types, known_sizes, sizes_map
from dovetail.dialects.statements.devices import home
from dovetail.dialects.statements.operand_strides import Stated, strides_attribute
from dovetail.dialects.statements.recompute import is_pinned
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.numbers import number
from dovetail.dialects.torch_facts.ops import Kind, kind
from dovetail.dialects.torch_facts.row import IN_REGIONS
from dovetail.dialects.torch_facts.transposition import reorders
from dovetail.dialects.torch_facts.types import is_value_type, require_shaped_info, tensor_info, torch_type, with_shape
from dovetail.passes.base import Pass
from dovetail.passes.costs.cost_model import costs_of
from dovetail.passes.layouts.channels_last import (
    BACK,
    BACKWARD,
    ORDER,
    Library,
    are_images,
    computes_elements,
    convolves,
    in_order,
    keeps_rows,
    reduces,
    reduces_all,
    strides_of,
    wanted_gradients,
)
from dovetail.passes.layouts.channels_last_chains import chains, comes_so, leaves_so, pays
from dovetail.passes.layouts.moments import gives_moments, moments
from dovetail.passes.layouts.windows import POOLING, Maxima, Windows, are_cut, cuts, forward, gradient, maxima, windows
from dovetail.passes.placement.scattered_views import turns_few
from dovetail.passes.rewriting.constants import boolean, constant, integer_list
from dovetail.passes.rewriting.equal_ops import merge_constants
from dovetail.passes.rewriting.permutations import permuted
from dovetail.passes.rewriting.pointwise import converts, of_others, pointwise_op, with_known_sizes
from dovetail.passes.rewriting.rules import create
from dovetail.passes.rewriting.sums import reduced_dims, sum_over, with_sizes

_EXPAND = "torch.aten.expand"
_ERASED = (Kind.POINTWISE, Kind.REDUCTION, Kind.VIEW)


class LayOutConvolutionsPass(Pass, name="lay-out-convolutions", runs_at="joint"):
    """Lays chains of convolutions out channels last, where copies at their ends cost less than the library saves.

    A convolution states the strides of its images, and gives its result in the same layout. What computes elements or
    sums of that computes them in the order of memory, so that regions read and write rows. Pooling takes images as they
    lie; on a GPU regions pool, where nobody sees at which pixels. What others read is permuted back, or laid out in
    rows. The gradient of a bias is a sum in a region, which adds up more exactly than a library's convolution.
    Filters and images of few channels that the user gives are copied, once for both halves. On a GPU variances are made
    of sums.

    Before:  `%1 = convolution %x, %w; %2 = relu %1; %3 = convolution %2, %v`
    After:   `%1 = convolution %x, %w {dovetail.strides}; %4 = permute %1, [0, 2, 3, 1] {dovetail.shows_rows};
             %5 = relu %4; %6 = permute %5, [0, 3, 1, 2]; %3 = convolution %6, %v {dovetail.strides}`
    """

    def run(self, module: ir.Module) -> bool:
        ops, costs = body(Module(module).joint), costs_of(module)
        library = Library.of(module)
        found = [each for each in chains(ops, library) if pays(each, costs)]
        if not found:
            return False
        images = {op.results[0]: images for each in found for op, images in each.ops.items()}
        laid_out = _LaidOut(images, library, home(module))
        for op, following in pairwise(ops):
            if laid_out.takes(op) and is_used(*op.results):
                with op.location, ir.InsertionPoint(following):
                    laid_out.lay_out(op)
        for op in reversed(ops):
            if (kind(op) in _ERASED or op.name in POOLING) and not is_used(*op.results):
                op.erase()
        merge_constants(body(Module(module).joint))
        return True


@dataclass
class _LaidOut:
    """Lays ops out, in order.

    Attributes:
        images: by an op's first result, the positions of the operands that lie channels last.
        library: what convolves.
        home: the device that the module is for.
        last: by value that lies so, the same with its dimensions in the order of memory.
        entering: by value that a library's op takes, the same as it lies so, where a region computes it.
        pooled: by the pixels that a library would find to be maxima, what regions find.
    """

    images: Mapping[ir.Value, Sequence[int]]
    library: Library
    home: str
    last: dict[ir.Value, ir.Value] = field(default_factory=dict)
    entering: dict[ir.Value, ir.Value] = field(default_factory=dict)
    pooled: dict[ir.Value, Maxima] = field(default_factory=dict)

    def takes(self, op: ir.Operation) -> bool:
        """Whether `op` takes images channels last."""
        return len(op.results) > 0 and op.results[0] in self.images

    def lay_out(self, op: ir.Operation) -> None:
        """Builds what stands for `op`, or has it take images channels last if it is a library's."""
        over = self._windows(op)
        if over is not None:
            self._pool(op, over)
        elif computes_elements(op):
            operands = [self._turned(each) if is_value_type(each.type) else each for each in op.operands]
            self._hand_on(op.results[0], _like(op, operands, in_order(_sizes(op.results[0]))))
        elif reduces(op):
            self._reduce(op)
        elif gives_moments(op):
            self._add_up(op)
        else:
            self._call(op)

    def _is_replaced(self, op: ir.Operation) -> bool:
        """Whether another op stands for one that takes images channels last; of a library's, the operands change."""
        return computes_elements(op) or reduces(op) or gives_moments(op) or self._windows(op) is not None

    def _windows(self, op: ir.Operation) -> Windows | None:
        """The windows over which regions of a GPU pool, where they do: of a gradient, where they found the maxima."""
        found = forward(op) if op.name in POOLING and self.library.device == "cuda" else None
        return windows(op) if found is not None and self.takes(found) else None

    def _pool(self, op: ir.Operation, over: Windows) -> None:
        """Has regions pool, forward or backward."""
        images = self._turned(op.operands[0])
        if len(op.results) > 1:
            found = self.pooled[op.results[1]] = maxima(images, over, are_cut(op), self.home)
            made = found.largest
        else:
            found = self.pooled[op.operands[7]]
            made = gradient(images, found.places, over, self.home)
            cut = cuts(op) if found.is_cut else None
            if cut is not None:
                cut.results[0].replace_all_uses_with(op.results[0])
        self._hand_on(op.results[0], made)

    def _call(self, op: ir.Operation) -> None:
        images, weights = self.images[op.results[0]], [2 if op.name == BACKWARD else 1] if convolves(op) else []
        for position in (*images, *weights):
            self._take(op, position)
        # Weights lie as they like: what a region turns lies channels last, and ATen turns the others in each call.
        stated = [_strides(each) if position in images else None for position, each in enumerate(op.operands)]
        op.attributes[STRIDES] = strides_attribute(stated)
        if op.name == BACKWARD:
            self._sum_for_bias(op)
        for each in filter(are_images, op.results):
            made = permuted(each, _sizes(each), ORDER)
            made.owner.attributes[SHOWS_ROWS] = ir.UnitAttr.get()
            self._hand_on(each, made)

    def _take(self, op: ir.Operation, position: int) -> None:
        """Has a region write an operand channels last that it casts, or computes of numbers and of what is expanded.

        Also what it turns faster than ATen copies it: once, for both halves.
        """
        value = op.operands[position]
        if value not in self.entering:
            with ir.InsertionPoint(op):
                made = self._entered(value)
                if made is None:
                    return
                self.entering[value] = _permuted(made, BACK)
            self.last[self.entering[value]] = made
        op.operands[position] = self.entering[value]

    def _entered(self, value: ir.Value) -> ir.Value | None:
        cast = pointwise_op(value)
        if value in self.last or not are_images(value):
            return None
        if cast is None:
            return _turned_few(value) if not comes_so(value) else None
        if converts(cast):
            source = _permuted(cast.operands[0], ORDER)
            return _like(cast, [source, *list(cast.operands)[1:]], in_order(_sizes(value)))
        return self._turned(value) if _is_spread(value) else None

    def _sum_for_bias(self, op: ir.Operation) -> None:
        """Adds up the gradient of a bias in a region; of half precision the library adds it up in single precision."""
        gradient, wanted = op.operands[0], wanted_gradients(op)
        if wanted is None or not wanted[2] or require_shaped_info(gradient.type).itemsize < 4:
            return
        in_memory = gradient in self.last
        total = sum_over(self.last.get(gradient, gradient), [0, 1, 2] if in_memory else [0, 2, 3])
        op.results[2].replace_all_uses_with(total)
        with ir.InsertionPoint(op):
            flags = [constant(each) for each in (*wanted[:2], False)]
            op.operands[10] = create(LIST, flags, torch_type("list<bool>"))

    def _reduce(self, op: ir.Operation) -> None:
        result, source = op.results[0], self.last[op.operands[0]]
        if reduces_all(op):
            result.replace_all_uses_with(_like(op, [source, *list(op.operands)[1:]], ()))
            return
        dims = reduced_dims(op) or []
        operands = [source, integer_list([ORDER.index(dim) for dim in dims]), *list(op.operands)[2:]]
        if boolean(op.operands[2]):
            self._hand_on(result, _like(op, operands, in_order(_sizes(result))))
            return
        left = [dim for dim in ORDER if dim not in dims]
        made = _like(op, operands, [_sizes(op.operands[0])[dim] for dim in left])
        result.replace_all_uses_with(_permuted(made, [left.index(dim) for dim in sorted(left)]))

    def _add_up(self, op: ir.Operation) -> None:
        """Has regions add up the columns that variances and means are of, which ATen's kernel takes long to read."""
        found = moments(self.last[op.operands[0]], number(op.operands[2]) or 0)
        for result, made in zip(op.results, found, strict=True):
            if boolean(op.operands[3]):
                self._hand_on(result, made)
            else:
                result.replace_all_uses_with(with_sizes(made, _sizes(result)))

    def _hand_on(self, image: ir.Value, made: ir.Value) -> None:
        """Has what reads `image` read `made`, in the order of `image`: as it lies in memory, or laid out in rows."""
        self.last[image] = made
        back, rows = None, None
        is_library, is_in_rows = made.owner.operands[0] == image, keeps_rows(_sizes(image), ORDER)
        for use in list(image.uses):
            user = use.owner.operation
            is_inside = self.takes(user)
            if user == made.owner or (is_inside and (is_library or self._is_replaced(user))):
                continue
            if is_library and leaves_so(user):
                continue
            back = back or _permuted(made, BACK)
            if is_inside or is_in_rows or kind(user) in IN_REGIONS or reorders(user) or leaves_so(user):
                user.operands[use.operand_number] = back
            else:
                rows = rows or _made("torch.aten.clone", [back, constant(0)], image, _sizes(image))
                user.operands[use.operand_number] = rows

    def _turned(self, value: ir.Value) -> ir.Value:
        """An operand of what computes images, for one that computes them in the order of memory."""
        if value in self.last:
            return self.last[value]
        sizes = _sizes(value)
        if not sizes:
            return value
        expansion = made_by(value, _EXPAND)
        listed = None if expansion is None else made_by(expansion.operands[1], LIST)
        if expansion is not None and listed is not None and len(_sizes(expansion.operands[0])) == len(sizes) == 4:
            turned = create(LIST, [listed.operands[dim] for dim in ORDER], expansion.operands[1].type)
            operands = [self._turned(expansion.operands[0]), turned, constant(False)]
            return _made(_EXPAND, operands, value, in_order(sizes))
        if _is_spread(value):
            op = value.owner
            operands = [self._turned(each) if is_value_type(each.type) else each for each in op.operands]
            return _like(op, operands, in_order(sizes))
        return _permuted(with_sizes(value, (*(1 for _ in range(4 - len(sizes))), *sizes)), ORDER)


def _turned_few(value: ir.Value) -> ir.Value | None:
    """Builds a copy channels last of what the user gives, if regions turn it; None where it lies so already."""
    info, is_given = tensor_info(value.type), made_by(value, ReadOp.OPERATION_NAME) is not None
    if not is_given or info is None or keeps_rows(info.shape, ORDER) or not turns_few(info.shape, ORDER):
        return None
    shown = _permuted(value, ORDER)
    made = _made("torch.aten.clone", [shown, constant(0)], shown, in_order(info.shape))
    made.owner.attributes[TURNED] = ir.UnitAttr.get()
    return made


def _is_spread(value: ir.Value) -> bool:
    """Whether `value` is computed for one op, of nothing but numbers and what is expanded to images."""
    op = producer(value)
    if op is None or not computes_elements(op) or is_pinned(op) or len(users(value)) > 1:
        return False
    tensors = [each for each in op.operands if is_value_type(each.type)]
    return all(not _sizes(each) or made_by(each, _EXPAND) is not None or _is_spread(each) for each in tensors)


def _like(op: ir.Operation, operands: Sequence[ir.Value], sizes: Sequence[KnownSize]) -> ir.Value:
    return of_others(op, operands, with_shape(op.results[0].type, in_types(sizes)), sizes)


def _made(name: str, operands: Sequence[ir.Value], like: ir.Value, sizes: Sequence[KnownSize]) -> ir.Value:
    """Builds an op that gives elements like those of `like`, in `sizes`."""
    return with_known_sizes(create(name, operands, with_shape(like.type, in_types(sizes))), sizes)


def _sizes(value: ir.Value) -> tuple[KnownSize, ...]:
    """The sizes of a tensor, which chains take and give where they are known, by the symbols if open."""
    sizes = known_sizes(value)
    if sizes is None:
        raise ValueError(f"nothing is known of the sizes of '{value.type}'")
    return sizes


def _strides(images: ir.Value) -> Stated:
    """How `images` are stated to lie."""
    strides = strides_of(_sizes(images))
    known = tuple(each for each in strides if isinstance(each, int))
    return known if len(known) == len(strides) else sizes_map(strides)


def _permuted(value: ir.Value, order: Sequence[int]) -> ir.Value:
    """`value`, its dimensions in `order`: a reshape, if only dimensions of size 1 move."""
    sizes = _sizes(value)
    turned = [sizes[dim] for dim in order]
    if keeps_rows(sizes, order) and in_types(turned).count(None) < 2:
        return with_sizes(value, turned)
    return permuted(value, sizes, order)
