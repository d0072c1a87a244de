"""Channels last: an image lies pixel by pixel, its channels beside each other. Which ops may take and give such images.

A library's convolution of images that lie in rows reorders them, and what it computes; of images that lie channels last
it reads and writes what is there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from dovetail.dialects.reading import made_by
from dovetail.dialects.sizes.bound_sizes import Range
from dovetail.dialects.sizes.expected import expected_info
from dovetail.dialects.sizes.size_expressions import bounds
from dovetail.dialects.sizes.symbols import KnownSize, is_open_op, known_sizes
from dovetail.dialects.statements.target import device_type, rounds_to_tf32
from dovetail.dialects.torch_facts.names import LIST
from dovetail.dialects.torch_facts.ops import Kind, kind, row
from dovetail.dialects.torch_facts.row import Kernel
from dovetail.dialects.torch_facts.types import TensorInfo, is_value_type, shaped_info, tensor_info
from dovetail.passes.layouts.moments import gives_moments
from dovetail.passes.rewriting.constants import boolean, integer, integers
from dovetail.passes.rewriting.pointwise import is_whole, pointwise_op

ORDER, BACK = (0, 2, 3, 1), (0, 3, 1, 2)
"""The dimensions of images, from the outermost one in memory on: image, row, column, channel; and back."""

_FORWARD = "torch.aten.convolution"
BACKWARD = "torch.aten.convolution_backward"
_TYPES = {"cpu": ("float32", "bfloat16", "float16"), "cuda": ("bfloat16", "float16")}
"""By type of device, of what the library has faster kernels so; on a GPU, what tensor cores compute in any case."""

_MOST_CHANNELS = 64
"""Channels whose products of float32 oneDNN may add up for a result. It does so in one row where images lie channels
last, else by 16 channels. The error grows with the root of the number of these: of 64 it is two times eager's, of 256
nearly four. From 128 on, there is nothing to gain. Kernels of one pixel add up alike."""


@dataclass(frozen=True)
class Library:
    """What convolves.

    Attributes:
        device: the type of the device.
        types: the element types of the images that it is faster with channels last.
    """

    device: str
    types: tuple[str, ...]

    @classmethod
    def of(cls, module: ir.Module) -> "Library":
        """What convolves for `module`: a GPU's tensor cores take float32 that may be rounded, too."""
        device = device_type(module)
        return cls(device, (*_TYPES[device], *(["float32"] if rounds_to_tf32(module) else [])))


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


def convolution(op: ir.Operation, library: Library, ranges: Mapping[int, Range]) -> Convolution | None:
    """What is known of `op`; None where it is no convolution, or may not lie channels last.

    On GPUs, those of open sizes may not: regions turn none there. Work is priced by what sizes are expected to be.
    """
    if not convolves(op) or not _has_elements(op, ranges) or (library.device != "cpu" and is_open_op(op)):
        return None
    start = int(op.name == BACKWARD)  # which takes the gradient of the result first
    images, weights = expected_info(op.operands[start]), tensor_info(op.operands[start + 1].type)
    made = expected_info((op.operands if start else op.results)[0])
    if images is None or weights is None or made is None or images.dtype not in library.types:
        return None
    is_transposed, groups = boolean(op.operands[start + 6]), integer(op.operands[start + 8])
    # Images of one channel lie either way.
    if len(images.shape) != 4 or images.shape[1] == 1 or is_transposed is not False or groups != 1:
        return None
    both = 2 * (images.nbytes + made.nbytes)
    if not start:
        return Convolution((0,), both) if _is_exact(weights, weights.shape[1], library.device) else None
    wanted = wanted_gradients(op)
    if wanted is None or (wanted[0] and not _is_exact(weights, weights.shape[0], library.device)):
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


def images_of(op: ir.Operation, library: Library, ranges: Mapping[int, Range]) -> list[int]:
    """The positions of operands that `op` can take channels last; none of an op that can't."""
    known = convolution(op, library, ranges)
    if known is not None:
        return list(known.images)
    # The parts that moments are added up in are a GPU's.
    if reduces(op) or (library.device == "cuda" and gives_moments(op)):
        return [0]
    if _pools(op) and _has_elements(op, ranges):
        return [number for number, each in enumerate(op.operands) if are_images(each)]
    return _whole_images(op) if computes_elements(op) else []


def lasts(result: ir.Value) -> bool:
    """Whether a result of an op that takes images channels last is such images: no gradient of weights is."""
    return are_images(result) and (result.owner.name != BACKWARD or ir.OpResult(result).result_number == 0)


def _pools(op: ir.Operation) -> bool:
    """Whether `op` pools images, forward or backward: kernels lay their results out as the operands lie."""
    return row(op).kernel is Kernel.POOLING


def reduces(op: ir.Operation) -> bool:
    """Whether `op` reduces images, along all dimensions or along stated ones."""
    if kind(op) is not Kind.REDUCTION or len(op.results) != 1 or not are_images(op.operands[0]) or not _are_known(op):
        return False
    is_stated = len(op.operands) > 2 and bool(integers(op.operands[1])) and boolean(op.operands[2]) is not None
    return is_stated or reduces_all(op)


def reduces_all(op: ir.Operation) -> bool:
    """Whether a reduction takes all elements together, and no positions: beside them it takes a type or a number."""
    return known_sizes(op.results[0]) == () and len(op.operands) == 2


def computes_elements(op: ir.Operation) -> bool:
    """Whether `op` computes images element by element."""
    is_one = len(op.results) == 1 and are_images(op.results[0])
    return is_one and pointwise_op(op.results[0]) is not None and _are_known(op)


def are_images(value: ir.Value) -> bool:
    """Whether `value` has the four dimensions of images, whose sizes are known: by the symbols, if open."""
    sizes = known_sizes(value) if is_value_type(value.type) and shaped_info(value.type) is not None else None
    return sizes is not None and len(sizes) == 4


def _whole_images(op: ir.Operation) -> list[int]:
    """The positions of the operands that have the sizes of the images which `op` computes."""
    sizes = known_sizes(op.results[0]) or ()
    return [number for number, each in enumerate(op.operands) if is_whole(each, sizes)]


def _are_known(op: ir.Operation) -> bool:
    """Whether the sizes of all tensors that `op` takes and gives are known; of images, by the symbols if open."""
    return all(tensor_info(each.type) is not None or are_images(each) for each in _tensors(op))


def _has_elements(op: ir.Operation, ranges: Mapping[int, Range]) -> bool:
    """Whether they are known, and surely none is 0."""
    sizes = [size for each in _tensors(op) for size in known_sizes(each) or ()] if _are_known(op) else [0]
    return all(bounds(size, ranges)[0] > 0 for size in sizes)


def _tensors(op: ir.Operation) -> list[ir.Value]:
    return [each for each in (*op.operands, *op.results) if is_value_type(each.type)]


def in_order(sizes: Sequence[KnownSize]) -> tuple[KnownSize, ...]:
    """The sizes of images, by the dimensions from the outermost one in memory on."""
    return tuple(sizes[dim] for dim in ORDER)


def keeps_rows(sizes: Sequence[KnownSize], order: Sequence[int]) -> bool:
    """Whether a tensor of `sizes` is the same in memory with its dimensions in `order`: only those of size 1 move."""
    large = [dim for dim in order if sizes[dim] != 1]
    return large == sorted(large)


def strides_of(sizes: Sequence[KnownSize]) -> tuple[KnownSize, ...]:
    """The strides of images that lie channels last, in elements."""
    _, channels, rows, columns = sizes
    return rows * columns * channels, 1, columns * channels, channels
