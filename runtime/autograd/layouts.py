"""How operands in the backward lie, by how the gradients do that autograd gives it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

Strides = tuple[int, ...]
Laid = tuple[tuple[int, ...], Strides]
"""Sizes, and strides in elements."""

_REMEMBERED = 64
"""Ways in which tangents lie that are remembered. Then all are forgotten, so that new ones can't fill memory."""


@dataclass(frozen=True)
class Number:
    """What `@layouts` takes: a symbol, by its number."""

    symbol: int

    def given(self, _: Mapping[int, torch.Tensor], symbols: Mapping[int, int]) -> int:
        return symbols[self.symbol]

    def made(self, number: Any) -> int:
        return number


@dataclass(frozen=True)
class LayoutArgument:
    """What `@layouts` takes: the tangent of an owned result, by its number, or what lies as a function says."""

    of: int | Callable[[Mapping[int, int]], Laid]
    dtype: torch.dtype
    device: str = "cpu"

    def given(self, tangents: Mapping[int, torch.Tensor], symbols: Mapping[int, int]) -> Laid:
        if not isinstance(self.of, int):
            return self.of(symbols)
        tangent = tangents[self.of]
        return tangent.size(), tangent.stride()

    def made(self, laid: Any) -> torch.Tensor:
        return torch.empty_strided(*laid, dtype=self.dtype, device=self.device)


@dataclass(frozen=True)
class Layouts:
    """Runs `@layouts` on tensors without memory: `function` takes and empties a list, and returns tensors."""

    function: Callable
    arguments: tuple[LayoutArgument | Number, ...]
    known: dict[tuple[Laid | int, ...], tuple[Strides, ...]] = field(default_factory=dict)

    def __call__(self, tangents: Mapping[int, torch.Tensor], symbols: Mapping[int, int]) -> tuple[Strides, ...]:
        """The strides, in elements, of each result, for `tangents` by the number of the owned result."""
        given = tuple(argument.given(tangents, symbols) for argument in self.arguments)
        if given not in self.known:
            if len(self.known) >= _REMEMBERED:
                self.known.clear()
            self.known[given] = self._told(given)
        return self.known[given]

    def _told(self, given: tuple[Laid | int, ...]) -> tuple[Strides, ...]:
        from torch._subclasses.fake_tensor import FakeTensorMode  # takes long, and few programs need it

        with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True):
            pairs = zip(self.arguments, given, strict=True)
            made = [argument.made(laid) for argument, laid in pairs]
            return tuple(tensor.stride() for tensor in self.function(made))
