"""Convolutions in which all results of an image and channel see the same pixels: products of matrices.

So it is where images are no larger than the kernel, as in the last layers of a network. oneDNN takes 40 us and more for
each, and 30 ms for the gradients of 512 channels of one pixel, where products take 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import torch

from dovetail.frontend.decompose.few_channels import gradient_of_images, has_few_channels
from dovetail.frontend.dynamo.open_sizes import is_open_value

aten = torch.ops.aten

LARGEST_MATRIX = 1 << 15
"""Elements of a matrix for several results a channel: to lay out the weights in a larger one takes what it gains."""

Range = tuple[int, int]


@dataclass(frozen=True)
class _Windows:
    """What the results see.

    Attributes:
        pixels: by dimension, the first one that they see, and the one after the last.
        taps: by result, the weights by which it multiplies them, likewise.
        sizes: the results along each dimension.
    """

    pixels: Sequence[Range]
    taps: Sequence[Sequence[Range]]
    sizes: Sequence[int]

    def matrix(self, weights: torch.Tensor) -> torch.Tensor:
        """[channel and position of the result, channel and position of the pixel]."""
        parts = [_cropped(weights, taps) for taps in self.taps]
        rows = parts[0] if len(parts) == 1 else torch.stack(parts, 1)
        return rows.reshape(weights.size(0) * len(parts), -1)

    def weights(self, matrix: torch.Tensor, sizes: Sequence[int]) -> torch.Tensor:
        """The gradient of weights of `sizes` by that of their matrix."""
        pixels = [end - start for start, end in self.pixels]
        parts = matrix.view(sizes[0], len(self.taps), sizes[1], *pixels).unbind(1)
        padded = [_padded(part, taps, sizes) for part, taps in zip(parts, self.taps, strict=True)]
        return sum(padded[1:], start=padded[0])


def _windows(
    images: torch.Tensor,
    weights: torch.Tensor,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    is_transposed: bool,
    _: list[int],
    groups: int,
) -> _Windows | None:
    """None where results see different pixels, or eager's kernel may not lay out its results row by row."""
    dims = images.dim() - 2
    if is_transposed or groups != 1 or any(step != 1 for step in dilation) or not len(stride) == len(padding) == dims:
        return None
    if any(map(is_open_value, (*images.shape, *weights.shape, *stride, *padding))) or images.device.type != "cpu":
        return None
    if not all(tensor.is_contiguous() and tensor.dtype is torch.float32 for tensor in (images, weights)):
        return None
    pixels, taps, counts = [], [], []
    for step, before, size, reach in zip(stride, padding, images.shape[2:], weights.shape[2:], strict=True):
        firsts = range(-before, size + before - reach + 1, step)
        seen = {(max(first, 0), min(first + reach, size)) for first in firsts}
        start, end = min(seen, default=(0, 0))
        if len(seen) != 1 or start >= end:
            return None
        pixels.append((start, end))
        taps.append([(start - first, end - first) for first in firsts])
        counts.append(len(firsts))
    elements = prod(weights.shape[:2]) * prod(end - start for start, end in pixels) * prod(counts)
    if not elements or not images.size(0) or (prod(counts) > 1 and elements > LARGEST_MATRIX):
        return None
    return _Windows(pixels, list(product(*taps)), counts)


def _convolution(images: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor | None, *how) -> torch.Tensor:
    windows = _windows(images, weights, *how)
    if windows is None:
        return NotImplemented
    made = _cropped(images, windows.pixels).flatten(1) @ windows.matrix(weights).t()
    result = made.view(images.size(0), weights.size(0), *windows.sizes)
    return result if bias is None else result + bias.view(-1, *[1] * len(windows.sizes))


def _convolution_backward(
    gradient: torch.Tensor, images: torch.Tensor, weights: torch.Tensor, bias_sizes: list[int] | None, *how
) -> tuple[torch.Tensor | None, ...]:
    *where, wanted = how
    windows = _windows(images, weights, *where)
    if windows is None and wanted[0] and has_few_channels(images, weights, *where):
        others = [False, *wanted[1:]]
        made = aten.convolution_backward(gradient, images, weights, bias_sizes, *where, others) if any(others) else None
        return gradient_of_images(gradient, images, weights, where[1]), *(made[1:] if made else (None, None))
    if windows is None:
        return NotImplemented
    rows, seen = gradient.flatten(1), _cropped(images, windows.pixels)
    of_images, of_weights, of_bias = None, None, None
    if wanted[0]:
        of_images = _padded((rows @ windows.matrix(weights)).view(seen.shape), windows.pixels, images.shape)
    if wanted[1]:
        of_weights = windows.weights(rows.t() @ seen.flatten(1), weights.shape)
    if wanted[2]:
        of_bias = gradient.sum([0, *range(2, gradient.dim())])
    return of_images, of_weights, of_bias


def _cropped(value: torch.Tensor, ranges: Sequence[Range]) -> torch.Tensor:
    for dim, (start, end) in enumerate(ranges, 2):
        if (start, end) != (0, value.size(dim)):
            value = value.narrow(dim, start, end - start)
    return value


def _padded(value: torch.Tensor, ranges: Sequence[Range], sizes: Sequence[int]) -> torch.Tensor:
    """Zeros of `sizes`, of which `_cropped` would take `value`."""
    pads = [(start, size - end) for (start, end), size in zip(ranges, sizes[2:], strict=True)]
    return aten.constant_pad_nd(value, [each for pad in reversed(pads) for each in pad])


CONVOLUTIONS: dict[torch._ops.OpOverload, Callable] = {
    aten.convolution.default: _convolution,
    aten.convolution_backward.default: _convolution_backward,
}
