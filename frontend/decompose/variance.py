"""Variances from simpler ops, deviations, and normalization by those of a batch, in double precision where eager is."""

import math
from collections.abc import Callable

import torch
from torch._decomp import get_decompositions

from dovetail.dialects.torch_facts.empty import is_empty
from dovetail.frontend.decompose.precision import HALF_PRECISION
from dovetail.frontend.decompose.sums import counted, divisor

aten = torch.ops.aten

_without_statistics = aten._native_batch_norm_legit.no_stats
_functional = aten._native_batch_norm_legit_functional.default
_by_pytorch = get_decompositions([_without_statistics, _functional])


def _moments(value: torch.Tensor, dims: list[int], correction: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Variance and mean over `dims`, which are kept, in float64: equal numbers have no variance, and 1e30 has a square.

    IREE divides by a negative number where the correction is larger than the count; eager's divisor is never below 0.
    On a GPU what is no wider is computed in float32, as eager does: float64 takes ten times as long there.
    """
    count = counted(value, dims)
    whole = int(correction) if float(correction).is_integer() else correction
    wide = value if value.dtype is torch.float64 else value.to(torch.float32)
    summed = wide.dtype if value.device.type == "cuda" else torch.float64
    mean = wide.sum(dims, True, dtype=summed) / divisor(count)
    if summed is wide.dtype:
        # What rounding left of the mean: that of equal numbers is none of them else.
        rest = (wide - mean).sum(dims, True) / divisor(count)
        mean = torch.where(mean.isfinite(), mean + rest, mean)
    centred = (wide - mean.to(wide.dtype)).to(summed)
    return (centred * centred).sum(dims, True) / divisor(torch.sym_max(count - whole, 0)), mean


def _moments_of_few_bits(wide: torch.Tensor, dims: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """As `_moments` of half precision in float32, without a correction: the deviations are added up once, not twice.

    What rounding leaves of the mean is next to nothing beside the distance of two numbers of so few bits. Equal numbers
    of bfloat16 add up exactly, in a tree of some hundred thousands.
    """
    count = divisor(counted(wide, dims))
    mean = wide.sum(dims, True) / count
    centred = wide - mean
    return (centred * centred).sum(dims, True) / count, mean


def _lie_apart(dims: list[int]) -> bool:
    """Whether others lie between these, as where images are reduced by channel: no kernel of ours adds that up."""
    return max(dims) - min(dims) >= len(dims)


def _reduced(
    value: torch.Tensor, dim: list[int] | None, correction: float | None, keepdim: bool
) -> tuple[torch.Tensor, torch.Tensor] | None:
    """Variance and mean as ATen's ops of these arguments give them, but in float64; None of what stays whole."""
    if not value.is_floating_point() or value.dim() == 0 or is_empty(value):
        return None
    dims = [each % value.dim() for each in dim] if dim else list(range(value.dim()))
    if value.dtype is torch.float32 and value.device.type == "cuda" and _lie_apart(dims):
        return None
    var, mean = _moments(value, dims, 1 if correction is None else correction)
    return (var, mean) if keepdim else (var.squeeze(dims), mean.squeeze(dims))


def _var_mean(
    value: torch.Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    found = _reduced(value, dim, correction, keepdim)
    return NotImplemented if found is None else (found[0].to(value.dtype), found[1].to(value.dtype))


def _std_mean(
    value: torch.Tensor, dim: list[int] | None = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """The root of float64, since the variance may be too large a number for the result's type."""
    found = _reduced(value, dim, correction, keepdim)
    if found is None:
        found = aten.var_mean.correction(value, dim, correction=correction, keepdim=keepdim)
    return found[0].sqrt().to(value.dtype), found[1].to(value.dtype)


def _first(both: Callable) -> Callable:
    def one(*args, **kwargs) -> torch.Tensor:
        found = both(*args, **kwargs)
        return found if found is NotImplemented else found[0]

    return one


def _batch_norm(
    value: torch.Tensor,
    weight: torch.Tensor | None,
    bias: torch.Tensor | None,
    mean: torch.Tensor | None,
    variance: torch.Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[torch.Tensor, ...]:
    """The normalized value, the batch's mean and reciprocal deviation, and the running mean and variance, if any.

    Anything but training in float32 is PyTorch's own decomposition, whose variance overflows where eager's does not;
    but for half precision on a GPU, where images lie channels last: many threads add up a column there.
    """
    running = () if mean is None or variance is None else (mean, variance)
    on_gpu = value.device.type == "cuda"
    wide = value.to(torch.float32) if on_gpu and value.dtype in HALF_PRECISION else value
    given = (wide, *running, *(each for each in (weight, bias) if each is not None))
    if not training or is_empty(value) or any(each.dtype is not torch.float32 for each in given):
        if not running:
            return _by_pytorch[_without_statistics](value, weight, bias, training, momentum, eps)
        return _by_pytorch[_functional](value, weight, bias, *running, training, momentum, eps)
    dims = [each for each in range(value.dim()) if each != 1]
    if not on_gpu:
        var, average = _moments(wide, dims, 0)
    elif wide is value:
        var, average = aten.var_mean.correction(value, dims, correction=0, keepdim=True)
    else:
        var, average = _moments_of_few_bits(wide, dims)
    reciprocal = (var + eps).rsqrt().to(torch.float32)
    normal = (wide - average.to(torch.float32)) * reciprocal
    sizes = [1, -1, *[1] * (value.dim() - 2)]
    if weight is not None:
        normal = normal * weight.view(sizes)
    # Without a bias, too: eager adds that of the mean, after which a zero has no sign.
    normal = (normal + (0.0 if bias is None else bias.view(sizes))).to(value.dtype)
    saved = average.squeeze(dims).to(torch.float32), reciprocal.squeeze(dims)
    if not running:
        return normal, *saved
    count = value.numel() // value.size(1)
    unbiased = (var.squeeze(dims) * (count / (count - 1) if count > 1 else math.nan)).to(torch.float32)
    pairs = zip((saved[0], unbiased), running, strict=True)
    return normal, *saved, *(new * momentum + old * (1 - momentum) for new, old in pairs)


VARIANCES: dict[torch._ops.OpOverload, Callable] = {
    aten.var.correction: _first(_var_mean),
    aten.var_mean.correction: _var_mean,
    aten.std.correction: _first(_std_mean),
    aten.std_mean.correction: _std_mean,
    _without_statistics: lambda value, weight, bias, *how: _batch_norm(value, weight, bias, None, None, *how),
    _functional: _batch_norm,
}
