"""Variances and means in two passes. Eager's kernels of variances and normalizations go over the numbers once: of half
a million in double precision a variance is off by thousands of units in the last place, and the mean of whole numbers
whose sum is zero is not zero. A program in double precision can't be judged by that. Nor by a variance of equal numbers
that is not zero, whose root has another gradient."""

import math
from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from dovetail.tools.fuzz.kernel_steps import BATCH_NORMS, STEPS

aten = torch.ops.aten

# Whether the root is taken, and whether the mean is a result.
VARIANCES = {
    aten.var.correction: (False, False),
    aten.std.correction: (True, False),
    aten.var_mean.correction: (False, True),
    aten.std_mean.correction: (True, True),
}


class TwoPassVariances(TorchDispatchMode):
    """Adds up the squared differences from the mean as ATen adds up anything: in cascades."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func in BATCH_NORMS:
            with self:
                return STEPS[func](*args, **kwargs)
        if func not in VARIANCES and func not in _NORMS:
            return func(*args, **kwargs)
        value: torch.Tensor = args[0]
        if not value.dim() or not value.numel():
            return func(*args, **kwargs)
        return _NORMS[func](*args) if func in _NORMS else variance(func, *args, **kwargs)


def variance(
    func: torch._ops.OpOverload,
    value: torch.Tensor,
    dim: list[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
    """What one of `VARIANCES` gives for numbers that have a dimension."""
    takes_root, gives_mean = VARIANCES[func]
    dims = [each % value.dim() for each in dim] if dim else [*range(value.dim())]
    var, mean = _moments(value, dims, 1 if correction is None else correction)
    result = var.sqrt() if takes_root else var
    result, mean = (result, mean) if keepdim else (result.squeeze(dims), mean.squeeze(dims))
    return (result, mean) if gives_mean else result


def _moments(value: torch.Tensor, dims: list[int], correction: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Variance and mean over `dims`, which are kept. The variance of equal numbers is 0."""
    count = math.prod(value.size(each) for each in dims)
    mean = value.mean(dims, True)
    first = value
    for dim in dims:
        first = first.narrow(dim, 0, 1)
    are_equal = (value - first == 0).all(dims, True)
    squares = (value - mean).square().sum(dims, True).masked_fill(are_equal, 0.0)
    return squares / float(max(count - correction, 0)), mean


def _layer_norm(value, normalized_shape, weight, bias, eps):
    var, mean = _moments(value, [*range(-len(normalized_shape), 0)], 0)
    reciprocal = (var + eps).rsqrt()
    normal = (value - mean) * reciprocal * (1 if weight is None else weight) + (0 if bias is None else bias)
    return normal.contiguous(), mean, reciprocal


def _group_norm(value, weight, bias, batch, channels, pixels, groups, eps):
    var, mean = _moments(value.reshape(batch, groups, -1), [2], 0)
    reciprocal = (var + eps).rsqrt()
    sizes = [batch, channels, *[1] * (value.dim() - 2)]

    def by_channel(moment: torch.Tensor) -> torch.Tensor:
        return moment.expand(batch, groups, channels // groups).reshape(sizes)

    def of_each(parameter: torch.Tensor | None, absent: float) -> torch.Tensor | float:
        return absent if parameter is None else parameter.view(sizes[1:])

    normal = (value - by_channel(mean)) * by_channel(reciprocal) * of_each(weight, 1) + of_each(bias, 0)
    return normal, mean.squeeze(2), reciprocal.squeeze(2)


_NORMS: dict[torch._ops.OpOverload, Callable] = {
    aten.native_layer_norm.default: _layer_norm,
    aten.native_group_norm.default: _group_norm,
}
