"""Functions that one or two kernels compute."""

from collections.abc import Callable

import torch
from torch.nn import functional

Work = tuple[Callable[..., torch.Tensor], tuple[torch.Tensor, ...]]
"""What a case computes, and the tensors that it is given."""


def pointwise(smoke: bool) -> Work:
    """A chain of pointwise operations on a square matrix."""
    return lambda x: torch.tanh(2 * x + 1) * torch.sigmoid(x) + x, (_square(smoke),)


def gelu(smoke: bool) -> Work:
    """GELU behind a bias, and a residual."""
    x, residual = _square(smoke), _square(smoke)
    return lambda x, bias, residual: functional.gelu(x + bias) + residual, (x, x[0].clone(), residual)


def where(smoke: bool) -> Work:
    """A choice between a clamped and a scaled tensor."""
    return lambda x, y: torch.where(x > 0, x.clamp(-1, 1), y * 0.5), (_square(smoke), _square(smoke))


def softmax(smoke: bool) -> Work:
    """Softmax over the rows of a square matrix."""
    return lambda x: torch.softmax(x, -1), (_square(smoke),)


def softmax_of_1000(smoke: bool) -> Work:
    """Softmax over rows that are no whole number of vectors."""
    return lambda x: torch.softmax(x, -1), (torch.randn(*((10, 10) if smoke else (1000, 1000))),)


def layer_norm(smoke: bool) -> Work:
    """Layer norm with weight and bias over the rows of a square matrix."""
    x = _square(smoke)
    return lambda x, weight, bias: functional.layer_norm(x, x.shape[1:], weight, bias), (x, x[0] + 1, x[1].clone())


def rms_norm(smoke: bool) -> Work:
    """Root mean square norm as Llama writes it."""
    x = _square(smoke)
    return lambda x, weight: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * weight, (x, x[0] + 1)


def sum_of_columns(smoke: bool) -> Work:
    """The sum of each column."""
    return lambda x: (x * 2).sum(0), (_square(smoke),)


def sum_of_all(smoke: bool) -> Work:
    """The sum of a whole matrix."""
    return lambda x: x.sum(), (_square(smoke),)


def cross_entropy(smoke: bool) -> Work:
    """Cross entropy of rows with as many classes."""
    x = _square(smoke)
    return functional.cross_entropy, (x, torch.arange(len(x)) * 7 % len(x))


def transpose(smoke: bool) -> Work:
    """A transposed matrix plus one that isn't."""
    return lambda x, y: x.t() + y, (_square(smoke), _square(smoke))


def concatenation(smoke: bool) -> Work:
    """Every second column of a matrix beside another matrix."""
    return lambda x, y: torch.cat([x[:, ::2] * 2, y + 1], 1), (_square(smoke), _square(smoke))


def _square(smoke: bool) -> torch.Tensor:
    size = 64 if smoke else 1024
    return torch.randn(size, size)
