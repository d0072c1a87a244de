"""`_foreach_*` ops as one op for each tensor: regions fuse them again, horizontally."""

from collections.abc import Callable

import torch

aten = torch.ops.aten

# What each element is given to, where that is not the function of torch's namespace with the same name.
_FUNCTIONS: dict[str, Callable] = {
    "addcdiv": lambda value, left, right, scale=1: torch.addcdiv(value, left, right, value=scale),
    "addcmul": lambda value, left, right, scale=1: torch.addcmul(value, left, right, value=scale),
    "copy": lambda value, source, non_blocking=False: torch.ops.aten.copy(value, source),
    "maximum": lambda value, other: _bound(torch.maximum, torch.clamp_min, value, other),
    "minimum": lambda value, other: _bound(torch.minimum, torch.clamp_max, value, other),
    "norm": lambda value, order=2, dtype=None: torch.linalg.vector_norm(value, order, dtype=dtype),
    "zero": torch.zeros_like,
}
_NAMES = (
    "abs acos add addcdiv addcmul asin atan ceil clamp_max clamp_min clone copy cos cosh div erf erfc exp expm1 floor "
    "frac lerp lgamma log log10 log1p log2 max maximum minimum mul neg norm pow reciprocal round rsqrt sigmoid sign "
    "sin sinh sqrt sub tan tanh trunc zero"
)


def foreach_decompositions() -> dict[torch._ops.OpOverload, Callable]:
    """The overloads of these ops that this PyTorch has, without those that take their scalars as one tensor."""
    table: dict[torch._ops.OpOverload, Callable] = {}
    for name in _NAMES.split():
        packet = getattr(aten, f"_foreach_{name}", None)
        overloads = [] if packet is None else [overload for overload in packet.overloads() if "out" not in overload]
        function = _FUNCTIONS.get(name) or getattr(torch, name)
        scaled = name.startswith("addc")
        table |= {getattr(packet, each): _for_each(function) for each in overloads if not (scaled and each == "Tensor")}
    return table


def _for_each(function: Callable) -> Callable:
    """`function` on the elements of the lists among its arguments, everything else being the same for all."""

    def run(*arguments, **named):
        count = next(len(each) for each in arguments if isinstance(each, list | tuple))
        columns = [argument if isinstance(argument, list | tuple) else [argument] * count for argument in arguments]
        return [function(*row, **named) for row in zip(*columns, strict=True)]

    return run


def _bound(of_tensors: Callable, of_numbers: Callable, value: torch.Tensor, other) -> torch.Tensor:
    return of_tensors(value, other) if isinstance(other, torch.Tensor) else of_numbers(value, other)
