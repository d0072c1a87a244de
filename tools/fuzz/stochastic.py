"""Runs every op in double precision and rounds its results at random, to learn what rounding does to a program.

Monte Carlo arithmetic (D. S. Parker, UCLA CSD-970002, 1997): operands are up to half a unit in the last place off, and
each result is rounded up or down. What an op computes exactly stays exact, so comparisons and roundings of exact
numbers are decided as ever.
"""

from collections.abc import Callable

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

_EPSILONS = {each: torch.finfo(each).eps for each in (torch.float32, torch.bfloat16, torch.float16)}


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
        for rounded, right, noisy in zip(results, exact, off, strict=True):
            if isinstance(rounded, torch.Tensor) and rounded.dtype in _EPSILONS and right.dtype == torch.float64:
                self._round(rounded, right, noisy)
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
        result = func(*wide_args, **wide_kwargs)
        return list(result) if isinstance(result, tuple | list) else [result]

    def _round(self, rounded: torch.Tensor, right: torch.Tensor, noisy: torch.Tensor) -> None:
        """Writes to `rounded`: what is exact, or `noisy` rounded up or down."""
        nearest = right.to(rounded.dtype)
        noisy = noisy * (1 + self._unit(noisy) * _EPSILONS[rounded.dtype] / 2)
        is_exact = (nearest.double() == right) | ~right.isfinite() | ~nearest.isfinite()
        rounded.copy_(torch.where(is_exact, rounded, noisy.to(rounded.dtype)))

    def _unit(self, like: torch.Tensor) -> torch.Tensor:
        """Numbers from -1 to 1."""
        return torch.rand(like.shape, generator=self.random, dtype=torch.float64) * 2 - 1


def _computes(func) -> bool:
    """An op of PyTorch's own whose results are new numbers, and not random ones."""
    if func.namespace != "aten" or torch.Tag.nondeterministic_seeded in func.tags:
        return False
    schema = func._schema
    return not any(each.alias_info for each in (*schema.arguments, *schema.returns))
