"""How operands in the backward lie, by how the gradients do that autograd gives it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch

Strides = tuple[int, ...]

_REMEMBERED = 64
"""Ways in which tangents lie that are remembered. Then all are forgotten, so that new ones can't fill memory."""


@dataclass(frozen=True)
class Argument:
    """What `@layouts` takes: the tangent of an owned result, by its number, or what always has these strides."""

    shape: tuple[int, ...]
    strides: Strides
    dtype: torch.dtype
    tangent_of: int | None
    device: str = "cpu"


@dataclass(frozen=True)
class Layouts:
    """Runs `@layouts` on tensors without memory: `function` takes and empties a list, and returns tensors."""

    function: Callable
    arguments: tuple[Argument, ...]
    known: dict[tuple[Strides, ...], tuple[Strides, ...]] = field(default_factory=dict)

    def __call__(self, tangents: Mapping[int, torch.Tensor]) -> tuple[Strides, ...]:
        """The strides, in elements, of each result, for `tangents` by the number of the owned result."""
        given = tuple(
            each.strides if each.tangent_of is None else tangents[each.tangent_of].stride() for each in self.arguments
        )
        if given not in self.known:
            if len(self.known) >= _REMEMBERED:
                self.known.clear()
            self.known[given] = self._told(given)
        return self.known[given]

    def _told(self, given: tuple[Strides, ...]) -> tuple[Strides, ...]:
        from torch._subclasses.fake_tensor import FakeTensorMode  # takes long, and few programs need it

        with torch.no_grad(), FakeTensorMode(allow_non_fake_inputs=True):
            pairs = zip(self.arguments, given, strict=True)
            made = [
                torch.empty_strided(each.shape, strides, dtype=each.dtype, device=each.device)
                for each, strides in pairs
            ]
            return tuple(each.stride() for each in self.function(made))
