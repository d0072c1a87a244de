"""Monte Carlo arithmetic: how far rounding alone can carry a float32 program.

Source: D. S. Parker, "Monte Carlo Arithmetic: exploiting randomness in floating-point arithmetic", 1997.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only


class RandomLastPlaces(TorchDispatchMode):
    """Moves every element of every new floating-point result by one unit in the last place, up or down at random.

    Views and in-place results are left alone (the memory they show was moved when it was made), and zero stays zero,
    lest a ReLU's dead units come to life.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = torch.Generator().manual_seed(seed)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        results = func(*args, **(kwargs or {}))
        if any(result.alias_info is not None for result in func._schema.returns):
            return results
        return tree_map_only(torch.Tensor, self._moved, results)

    def _moved(self, result: torch.Tensor) -> torch.Tensor:
        if not result.is_floating_point():
            return result
        signs = torch.randint(0, 2, result.shape, generator=self._generator) * 2 - 1
        return torch.addcmul(result, result, signs.to(result.dtype), value=torch.finfo(result.dtype).eps)
