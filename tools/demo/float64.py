"""Keeps a float64 run in float64."""

from typing import Any

import torch
from torch.overrides import TorchFunctionMode


class KeepFloat64(TorchFunctionMode):
    """Reads every request for float32 as one for float64.

    Models cast up to float32 where a half-precision run needs it (Llama's RMSNorm and rotary embedding do). In a
    float64 run the same line casts down, and the reference would be no better than what it judges.
    """

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.Tensor.float:
            return args[0].double()
        widened = {name: _widen(value) for name, value in (kwargs or {}).items()}
        return func(*map(_widen, args), **widened)


def _widen(argument: Any) -> Any:
    return torch.float64 if argument is torch.float32 else argument
