"""Channels last: an image lies pixel by pixel, its channels beside each other. Which ops may take and give such images.

A library's convolution of images that lie in rows reorders them, and what it computes; of images that lie channels last
it reads and writes what is there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from dovetail.dialects.reading import made_by
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.sizes import Sizes
from dovetail.dialects.torch_facts.types import TensorInfo, is_value_type, tensor_info
from dovetail.passes.rewriting.constants import integer, integers
from dovetail.passes.rewriting.pointwise import pointwise_op
from dovetail.passes.rewriting.rules import shape

ORDER, BACK = (0, 2, 3, 1), (0, 3, 1, 2)
"""The dimensions of images, from the outermost one in memory on: image, row, column, channel; and back."""

_FORWARD = "torch.aten.convolution"
_MOMENTS = "torch.aten.var_mean.correction"
BACKWARD = "torch.aten.convolution_backward"
_TYPES = {"cpu": ("float32", "bfloat16", "float16"), "cuda": ("bfloat16", "float16")}
"""By type of device, of what the library has faster kernels so; on a GPU, what tensor cores compute."""

_MOST_CHANNELS = 64
"""Channels whose products of float32 oneDNN may add up for a result. It does so in one row where images lie channels
last, else by 16 channels. The error grows with the root of the number of these: of 64 it is two times eager's, of 256
nearly four. From 128 on, there is nothing to gain. Kernels of one pixel add up alike."""


@dataclass(frozen=True)
class Convolution:
    """What is known of one that is faster channels last.

    Attributes:
        images: the positions of the operands that are images.
        moved: the bytes that the library moves more of images in rows.
        laid_out: the bytes that are moved to lay the gradient of its weights out anew.
    """

    images: tuple[int, ...]
    moved: int
    laid_out: int = 0


def convolution(op: ir.Operation, device: str) -> Convolution | None:
    """What is known of `op` on a type of device; None where it is no convolution, or may not lie channels last."""
    if not convolves(op) or not _are_known(op):
        return None
    start = int(op.name == BACKWARD)  # which takes the gradient of the result first
    images, weights = (tensor_info(op.operands[start + each].type) for each in (0, 1))
    made = tensor_info((op.operands if start else op.results)[0].type)
    if images is None or weights is None or made is None or images.dtype not in _TYPES[device]:
        return None
    is_transposed, groups = boolean(op.operands[start + 6]), integer(op.operands[start + 8])
    # Images of one channel lie either way.
    if len(images.shape) != 4 or images.shape[1] == 1 or is_transposed is not False or groups != 1:
        return None
    both = 2 * (images.nbytes + made.nbytes)
    if not start:
        return Convolution((0,), both) if _is_exact(weights, weights.shape[1], device) else None
    wanted = wanted_gradients(op)
    if wanted is None or (wanted[0] and not _is_exact(weights, weights.shape[0], device)):
        return None
    return Convolution((0, 1), both * (wanted[0] + wanted[1]), 2 * weights.nbytes * wanted[1])


def convolves(op: ir.Operation) -> bool:
    """Whether `op` is a convolution, forward or backward."""
    return op.name in (_FORWARD, BACKWARD)


def _is_exact(weights: TensorInfo, channels: int, device: str) -> bool:
    """Whether the kernel may add up the products of this many channels."""
    is_in_parts = device == "cpu" and weights.dtype == "float32" and prod(weights.shape[2:]) > 1
    return not is_in_parts or channels <= _MOST_CHANNELS


def wanted_gradients(op: ir.Operation) -> list[bool] | None:
    """Which gradients a convolution's backward computes: of images, weights and bias; None if that is not known."""
    listed = made_by(op.operands[10], LIST)
    found = [] if listed is None else [boolean(each) for each in listed.operands]
    known = [each for each in found if each is not None]
    return known if len(known) == 3 else None


def images_of(op: ir.Operation, device: str) -> list[int]:
    """The positions of operands that `op` can take channels last; none of an op that can't."""
    known = convolution(op, device)
    if known is not None:
        return list(known.images)
    if reduces(op):
        return [0]
    if pools(op):
        return [number for number, each in enumerate(op.operands) if are_images(each)]
    return _whole_images(op) if computes_elements(op) else []


def lasts(result: ir.Value) -> bool:
    """Whether a result of an op that takes images channels last is such images: no gradient of weights is."""
    return are_images(result) and (result.owner.name != BACKWARD or ir.OpResult(result).result_number == 0)


def pools(op: ir.Operation) -> bool:
    """Whether `op` pools images, forward or backward: kernels lay their results out as the operands lie."""
    return row(op).kernel == "pooling" and _are_known(op)


def reduces(op: ir.Operation) -> bool:
    """Whether `op` reduces images, along all dimensions or along stated ones."""
    if kind(op) is not Kind.REDUCTION or not are_images(op.operands[0]) or not _are_known(op):
        return False
    if op.name != _MOMENTS and len(op.results) != 1:
        return False
    is_stated = len(op.operands) > 2 and bool(integers(op.operands[1])) and keeps_dims(op) is not None
    return is_stated or reduces_all(op)


def keeps_dims(op: ir.Operation) -> bool | None:
    """Whether a reduction along stated dimensions keeps them; None where that is not known."""
    return boolean(op.operands[3 if op.name == _MOMENTS else 2])


def reduces_all(op: ir.Operation) -> bool:
    """Whether a reduction takes all elements together, and no positions: beside them it takes a type or a number."""
    return not shape(op.results[0]) and len(op.operands) == 2


def computes_elements(op: ir.Operation) -> bool:
    """Whether `op` computes images element by element, of tensors of known sizes."""
    is_one = len(op.results) == 1 and are_images(op.results[0])
    return is_one and pointwise_op(op.results[0]) is not None and _are_known(op)


def are_images(value: ir.Value) -> bool:
    """Whether `value` has the four dimensions of images, of known sizes."""
    info = tensor_info(value.type)
    return info is not None and len(info.shape) == 4


def _whole_images(op: ir.Operation) -> list[int]:
    """The positions of the operands that have the sizes of the images which `op` computes."""
    sizes = [None if info is None else info.shape for info in map(tensor_info, (each.type for each in op.operands))]
    return [number for number, each in enumerate(sizes) if each == shape(op.results[0])]


def boolean(value: ir.Value) -> bool | None:
    """The truth value that a `torch.constant` makes, None for any other value."""
    op = made_by(value, "torch.constant.bool")
    return None if op is None else ir.BoolAttr(op.attributes["value"]).value


def _are_known(op: ir.Operation) -> bool:
    """Whether all tensors that `op` takes and gives have known sizes, none of which is 0."""
    values = [each for each in (*op.operands, *op.results) if is_value_type(each.type)]
    return all((info := tensor_info(each.type)) is not None and 0 not in info.shape for each in values)


def in_order(sizes: Sizes) -> Sizes:
    """The sizes of images, by the dimensions from the outermost one in memory on."""
    return tuple(sizes[dim] for dim in ORDER)


def keeps_rows(sizes: Sequence[int], order: Sequence[int]) -> bool:
    """Whether a tensor of `sizes` is the same in memory with its dimensions in `order`: only those of size 1 move."""
    large = [dim for dim in order if sizes[dim] != 1]
    return large == sorted(large)


def strides_of(sizes: Sizes) -> Sizes:
    """The strides of images that lie channels last, in elements."""
    _, channels, rows, columns = sizes
    return rows * columns * channels, 1, columns * channels, channels
