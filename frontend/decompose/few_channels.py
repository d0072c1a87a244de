"""The gradient of images of few channels: a product of matrices, whose parts are added up where they belong.

oneDNN computes 16 channels at once, whatever it needs: three of them take four times what products and sums take.
"""

from collections.abc import Sequence
from itertools import product
from math import prod

import torch

from dovetail.frontend.dynamo.open_sizes import is_open_value

aten = torch.ops.aten

MOST_CHANNELS = 4
"""Of eight channels, oneDNN's kernel takes no longer."""

FEWEST_PRODUCTS = 1 << 20
"""Multiplications; fewer take less time than the launches of a product and a region."""


def has_few_channels(
    images: torch.Tensor,
    weights: torch.Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    is_transposed: bool,
    _: Sequence[int],
    groups: int,
) -> bool:
    """Whether products compute the images' gradient faster than eager's kernel, which may lay it out row by row.

    Eager's kernel does so for images and weights in rows. What products give takes no more memory than the gradient
    that they take.
    """
    dims = images.dim() - 2
    if is_transposed or groups != 1 or any(step != 1 for step in (*stride, *dilation)) or len(padding) != dims:
        return False
    if any(map(is_open_value, (*images.shape, *weights.shape, *padding))) or images.device.type != "cpu":
        return False
    if not all(tensor.is_contiguous() and tensor.dtype is torch.float32 for tensor in (images, weights)):
        return False
    channels, taps = images.size(1), prod(weights.shape[2:])
    results = [
        size + 2 * pad - reach + 1
        for size, pad, reach in zip(images.shape[2:], padding, weights.shape[2:], strict=True)
    ]
    is_small = channels <= MOST_CHANNELS and channels * taps <= weights.size(0)
    return is_small and images.size(0) * prod(results) * weights.numel() >= FEWEST_PRODUCTS


def gradient_of_images(
    gradient: torch.Tensor, images: torch.Tensor, weights: torch.Tensor, padding: Sequence[int]
) -> torch.Tensor:
    """The gradient of `images`, in rows, by that of the results; both may lie channels last."""
    dims = range(2, images.dim())
    # As pixels, so that a gradient that lies channels last is taken as it lies.
    pixels = gradient.permute(0, *dims, 1).reshape(images.size(0), -1, weights.size(0))
    taps = weights.reshape(weights.size(0), -1).t().expand(images.size(0), -1, -1)
    parts = aten.bmm(taps, pixels.transpose(1, 2)).view(images.shape[:2] + weights.shape[2:] + gradient.shape[2:])
    terms = []
    for tap in product(*map(range, weights.shape[2:])):
        pads = [
            (at - before, size - made - at + before)
            for at, before, size, made in zip(tap, padding, images.shape[2:], gradient.shape[2:], strict=True)
        ]
        part = parts[(slice(None), slice(None), *tap)]
        terms.append(aten.constant_pad_nd(part, [each for pad in reversed(pads) for each in pad]))
    return sum(terms[1:], start=terms[0])
