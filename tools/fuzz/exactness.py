"""Which results of an op are exact, and not by luck: computed in another order, they come out the same.

A result that is a number of its type may have been rounded on the way. A sum is exact in any order if its addends are
multiples of the last bit that the type has at the size of all of them together: partial sums may be as large, and where
numbers cancel the result says nothing. That they are, the sums of random parts of them show. In double precision there
is no wider type to compare with. A product and a sum of two have an error that can be computed; what else is exact
there needs far fewer bits than there are.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
from torch.utils._pytree import tree_leaves, tree_map_only

from dovetail.tools.fuzz.two_passes import VARIANCES

aten = torch.ops.aten

# Bits that a number in double precision has too many for being exact by luck, among a million.
_SPARE = 24

# Ops that add many numbers or products, by the start of their names.
_SUMS = tuple(
    "sum mean nanmean mm bmm addmm baddbmm mv addmv addr dot cumsum convolution avg_pool _adaptive_avg "
    "embedding_dense _embedding_bag".split()
)

# Of these, what divides by a number that is no power of two, and so has no exact parts; but the sums of some are.
_MEANS = ("avg_pool", "_adaptive_avg", "_embedding_bag")
_OF_MEAN = {aten.mean.default: aten.sum.default, aten.mean.dim: aten.sum.dim_IntList}
_PARTS = 2  # which one in eight thousand sums passes by luck, each, in single precision

# Ops that multiply many numbers, or do more than add them; no norms, since that of infinity selects.
_CHAINS = tuple(
    "prod cumprod var std logsumexp _softmax _log_softmax native_layer_norm native_batch_norm native_group_norm "
    "_native_batch_norm _batch_norm batch_norm _fused_rms_norm nll_loss mse_loss smooth_l1 upsample "
    "_scaled_dot max_pool2d_with_indices_backward".split()
)


def is_exact(
    func: torch._ops.OpOverload, args: Sequence, kwargs: dict, index: int, right: torch.Tensor, nearest: torch.Tensor
) -> torch.Tensor:
    """Which elements of result `index` are exact: `right` in double precision, as `args` are, `nearest` in its type."""
    bits = 1 - round(math.log2(torch.finfo(nearest.dtype).eps))
    name = func._schema.name.removeprefix("aten::")
    found = nearest.double() == right
    if not found.any():
        return found
    if is_sum(func):
        return found & _is_exact_sum(func, args, kwargs, index, right, bits - bits // 3)
    if name.startswith(_CHAINS):
        found &= _fits(right, right.abs(), bits - bits // 3)
        return found & _has_exact_mean(bits - bits // 3, *args, **kwargs) if func in VARIANCES else found
    if nearest.dtype != torch.float64:
        return found
    if func in _ERRORS and len(args) == 2 and not kwargs:
        one, other = (each.double() if isinstance(each, torch.Tensor) else each for each in args)
        return _ERRORS[func](one, other, right) == 0
    found &= _fits(right, right.abs(), bits - _SPARE)
    return found if found.all() else found | _is_size_of_one(right, args)


def is_sum(func: torch._ops.OpOverload) -> bool:
    """Whether the op adds many numbers or products."""
    return func._schema.name.removeprefix("aten::").startswith(_SUMS)


def _has_exact_mean(
    bits: int, value: torch.Tensor, dim: list[int] | None = None, *, keepdim: bool = False, **_: object
) -> torch.Tensor:
    """Whether a variance subtracts a mean of few bits: from one that is rounded, it is exact by luck."""
    mean = value.mean(dim or None, keepdim)
    return _fits(mean, mean.abs(), bits)


def parts_by_sign(
    func: torch._ops.OpOverload, args: Sequence, kwargs: dict, index: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sums of an op's positive and of its negative addends, without infinities and NaN; of means, those of sums."""
    func = _OF_MEAN.get(func, func)
    total = _sums(func, args, kwargs, index, _finite)
    sizes = _sums(func, args, kwargs, index, lambda each: _finite(each).abs())
    return (sizes + total) / 2, (total - sizes) / 2


def _finite(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.nan_to_num(0.0, 0.0, 0.0)


def _is_exact_sum(
    func: torch._ops.OpOverload, args: Sequence, kwargs: dict, index: int, right: torch.Tensor, bits: int
) -> torch.Tensor:
    """Whether results are what their addends give in any order, as the sums of parts of these are, too."""
    found = torch.ones_like(right, dtype=torch.bool)
    if func in _OF_MEAN:
        found = _fits(right, right.abs(), bits)
        func = _OF_MEAN[func]
        right = _sums(func, args, kwargs, index, lambda each: each)
    sizes = _sums(func, args, kwargs, index, torch.abs)
    found &= _fits(right, sizes, bits)
    if func._schema.name.removeprefix("aten::").startswith(_MEANS):
        return found
    random = torch.Generator("cpu").manual_seed(0)
    for _ in range(_PARTS if found.any() else 0):
        found &= _fits(_sums(func, args, kwargs, index, partial(_part, random)), sizes, bits)
    return found


def _part(random: torch.Generator, tensor: torch.Tensor) -> torch.Tensor:
    """About half of the numbers, zeros in place of the others."""
    return tensor * torch.randint(2, tensor.shape, generator=random, device="cpu").to(tensor.device)


def _sums(
    func: torch._ops.OpOverload,
    args: Sequence,
    kwargs: dict,
    index: int,
    change: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """Result `index` of the op on operands that are changed."""
    args, kwargs = tree_map_only(
        torch.Tensor, lambda each: change(each) if each.is_floating_point() else each, (args, kwargs)
    )
    result = func(*args, **kwargs)
    return result[index] if isinstance(result, tuple | list) else result


def _fits(values: torch.Tensor, magnitudes: torch.Tensor, bits: int) -> torch.Tensor:
    """Whether `values` are multiples of the last of so many `bits` of numbers that are as large as `magnitudes`."""
    large = magnitudes * 2.0 ** (53 - bits)
    return (values + large) - large == values


def _is_size_of_one(results: torch.Tensor, args: Sequence) -> torch.Tensor:
    """Which of the results are an element of an operand, or its negative."""
    tensors = [each for each in tree_leaves(args) if isinstance(each, torch.Tensor)]
    if not tensors:  # numbers made of nothing
        return torch.ones_like(results, dtype=torch.bool)
    sizes = results.abs().numpy(force=True)
    # What both have is mostly nothing or little. `torch.isin` takes eight times as long for a million numbers.
    shared = np.intersect1d(sizes, torch.cat([each.double().abs().reshape(-1) for each in tensors]).numpy(force=True))
    return torch.from_numpy(np.isin(sizes, shared)).to(results.device)


def _sum_error(one: torch.Tensor, other: torch.Tensor | float, total: torch.Tensor) -> torch.Tensor:
    """By how much the sum of two numbers was rounded (D. E. Knuth, TAOCP 2, 4.2.2)."""
    part = total - one
    return (one - (total - part)) + (other - part)


def _difference_error(one: torch.Tensor, other: torch.Tensor | float, difference: torch.Tensor) -> torch.Tensor:
    return _sum_error(one, -other, difference)


def _product_error(one: torch.Tensor, other: torch.Tensor | float, product: torch.Tensor) -> torch.Tensor:
    """By how much the product of two numbers was rounded (T. J. Dekker, Numerische Mathematik 18, 1971)."""
    (high, low), (other_high, other_low) = _halves(one), _halves(other)
    return ((high * other_high - product) + high * other_low + low * other_high) + low * other_low


def _halves(number):
    scaled = number * (2.0**27 + 1)
    high = scaled - (scaled - number)
    return high, number - high


_ERRORS: dict[torch._ops.OpOverload, Callable] = {
    aten.add.Tensor: _sum_error,
    aten.add.Scalar: _sum_error,
    aten.sub.Tensor: _difference_error,
    aten.sub.Scalar: _difference_error,
    aten.mul.Tensor: _product_error,
    aten.mul.Scalar: _product_error,
}
