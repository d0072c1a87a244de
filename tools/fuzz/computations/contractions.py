"""Lines that sum products: matrices, convolutions, attention; and pooling."""

import math
from collections.abc import Sequence
from random import Random

import torch

from dovetail.tools.fuzz.computations.pointwise import is_real
from dovetail.tools.fuzz.rules import Make, Rule

_F = "torch.nn.functional"
_MOST = 1 << 22  # products


def matrices(template: str, dims: int, most: int = 9) -> Make:
    """The line, for real tensors of so many dimensions, unless it multiplies too often."""

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        first, second = tensors[0], tensors[-1]
        if not is_real(first) or not dims <= first.ndim <= most or not first.numel():
            return None
        other = max(second.shape[-1] if second.ndim else 1, first.shape[-2] if first.ndim > 1 else 1)
        return template if first.numel() * other <= _MOST else None

    return make


def _image(template: str, channels: bool = False) -> Make:
    """The line, for images of at least 3 by 3; CHANNELS is how many channels they have."""

    def make(draw: Random, tensors: Sequence[torch.Tensor]) -> str | None:
        image = tensors[0]
        if not is_real(image) or image.ndim != 4 or min(image.shape[2:]) < 3 or not image.numel():
            return None
        if channels and math.prod(image.shape) * image.shape[1] * 27 > 4 * _MOST:
            return None
        weight = "torch.arange(27.0 * CHANNELS).sin().view(3, CHANNELS, 3, 3).to({0}.dtype)"
        return template.replace("WEIGHT", weight).replace("CHANNELS", str(image.shape[1]))

    return make


CONTRACTIONS = (
    Rule(2, matrices("{0} @ {0}.transpose(-1, -2)", 2)),
    Rule(2, matrices("{0}.transpose(-1, -2) @ {0}", 2)),
    Rule(2, matrices("{0} @ {1}", 1), operands=2),
    Rule(2, matrices("{0} @ {1}.transpose(-1, -2)", 2), operands=2),
    Rule(1.5, matrices(f"{_F}.linear({{0}}, {{1}})", 1), operands=2),
    Rule(1.5, matrices("torch.addmm({1}[:, 0], {0}, {1}.transpose(-1, -2))", 2, 2), operands=2),
    Rule(1, matrices("torch.bmm({0}, {1}.transpose(-1, -2))", 3, 3), operands=2),
    Rule(1, matrices("torch.einsum('...i,...j->ij', {0}, {1})", 1, 3), operands=2),
    Rule(1, matrices("torch.outer({0}, {1})", 1, 1), operands=2),
    Rule(1, matrices(f"{_F}.scaled_dot_product_attention({{0}}, {{0}}, {{0}})", 3, 4)),
)

IMAGES = (
    Rule(3, _image(f"{_F}.conv2d({{0}}, WEIGHT)", channels=True)),
    Rule(2, _image(f"{_F}.conv2d({{0}}, WEIGHT, padding=1, stride=2)", channels=True)),
    Rule(2, _image(f"{_F}.max_pool2d({{0}}, 2)")),
    Rule(1, _image(f"{_F}.max_pool2d({{0}}, 3, 1, 1)")),
    Rule(2, _image(f"{_F}.avg_pool2d({{0}}, 2)")),
    Rule(1, _image(f"{_F}.adaptive_avg_pool2d({{0}}, 2)")),
    Rule(1, _image(f"{_F}.interpolate({{0}}, scale_factor=2.0)")),
    Rule(1, _image("{0}.contiguous(memory_format=torch.channels_last)")),
)
