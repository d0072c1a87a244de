"""Runs every op in double precision and rounds its results at random, to learn what rounding does to a program.

Monte Carlo arithmetic (D. S. Parker, UCLA CSD-970002, 1997): operands are up to half a unit in the last place off, and
each result is rounded up or down. What an op computes exactly stays exact, so comparisons and roundings of exact
numbers are decided as ever. A sum is exact if its result needs a few bits less than there are: it may fit by luck, and
be rounded on the way.
"""

import math
from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

_EPSILONS = {each: torch.finfo(each).eps for each in (torch.float32, torch.bfloat16, torch.float16)}

# Ops that add or multiply many numbers, by the start of their names; no norms, since that of infinity selects.
_SUMS = (
    "sum mean nanmean mm bmm addmm baddbmm mv addmv addr dot cumsum prod cumprod convolution var std logsumexp "
    "_softmax _log_softmax native_layer_norm native_batch_norm native_group_norm _native_batch_norm _batch_norm "
    "batch_norm _fused_rms_norm avg_pool _adaptive_avg embedding_dense _embedding_bag nll_loss mse_loss smooth_l1 "
    "upsample _scaled_dot max_pool2d_with_indices_backward"
).split()


class RandomRounding(TorchDispatchMode):
    """Rounds at random what ATen computes in single and half precision; other draws for another `seed`."""

    def __init__(self, seed: int):
        super().__init__()
        self.random = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if not _computes(func):
            return result
        results = result if isinstance(result, tuple | list) else [result]
        if not any(isinstance(each, torch.Tensor) and each.dtype in _EPSILONS for each in results):
            return result
        exact, off = (self._in_double_precision(func, args, kwargs, noise) for noise in (False, True))
        is_sum = func._schema.name.removeprefix("aten::").startswith(tuple(_SUMS))
        for rounded, right, noisy in zip(results, exact, off, strict=True):
            if isinstance(rounded, torch.Tensor) and rounded.dtype in _EPSILONS and right.dtype == torch.float64:
                self._round(rounded, right, noisy, is_sum)
        return result

    def _in_double_precision(self, func: Callable, args, kwargs, noise: bool) -> list[torch.Tensor]:
        def widen(tensor: torch.Tensor) -> torch.Tensor:
            if tensor.dtype not in _EPSILONS:
                return tensor
            wide = tensor.double()
            return wide * (1 + self._unit(wide) * _EPSILONS[tensor.dtype] / 2) if noise else wide

        wide_args, wide_kwargs = tree_map_only(torch.Tensor, widen, (args, kwargs))
        wide_args, wide_kwargs = tree_map_only(
            torch.dtype, lambda each: torch.float64 if each in _EPSILONS else each, (wide_args, wide_kwargs)
        )
        # Numbers in the program's text are rounded too: 0.3 is none of float32.
        wide_args = tree_map_only(float, _in_single_precision, wide_args)
        result = func(*wide_args, **wide_kwargs)
        return list(result) if isinstance(result, tuple | list) else [result]

    def _round(self, rounded: torch.Tensor, right: torch.Tensor, noisy: torch.Tensor, is_sum: bool) -> None:
        """Writes to `rounded`: what is exact, or `noisy` rounded up or down."""
        nearest = right.to(rounded.dtype)
        noisy = noisy * (1 + self._unit(noisy) * _EPSILONS[rounded.dtype] / 2)
        bits = 1 - round(math.log2(_EPSILONS[rounded.dtype]))
        is_exact = (nearest.double() == right) & (_rounded(right, bits - bits // 3 if is_sum else bits) == right)
        is_exact |= ~right.isfinite() | ~nearest.isfinite()
        rounded.copy_(torch.where(is_exact, rounded, noisy.to(rounded.dtype)))

    def _unit(self, like: torch.Tensor) -> torch.Tensor:
        """Numbers from -1 to 1."""
        return torch.rand(like.shape, generator=self.random, dtype=torch.float64) * 2 - 1


def _rounded(values: torch.Tensor, bits: int) -> torch.Tensor:
    """Numbers in double precision, rounded to so many bits (T. J. Dekker, Numerische Mathematik 18, 1971)."""
    scaled = values * (2.0 ** (53 - bits) + 1)
    return scaled - (scaled - values)


def _in_single_precision(number: float) -> float:
    return torch.tensor(number, dtype=torch.float32).item()


def _computes(func) -> bool:
    """An op of PyTorch's own whose results are new numbers, and not random ones."""
    if func.namespace != "aten" or torch.Tag.nondeterministic_seeded in func.tags:
        return False
    schema = func._schema
    return not any(each.alias_info for each in (*schema.arguments, *schema.returns))
