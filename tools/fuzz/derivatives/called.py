"""A call whose derivatives a caller asks for, and the directions in which it asks."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_leaves


@dataclass(frozen=True)
class Called:
    """One call of `fn`.

    Attributes:
        outputs: the tensors among what it returned.
        inputs: what gradients are asked of, by name: the tensors that require one, among arguments, what these are made
            of, and state.
        of: which of the differentiable results are asked about, by number, counted around.
        in_batches: whether batches of derivatives are computed at once, or one by one.
    """

    fn: Callable
    arguments: list
    outputs: list[torch.Tensor]
    inputs: dict[str, torch.Tensor]
    of: tuple[int, ...]
    in_batches: bool = True

    def chosen(self) -> list[torch.Tensor]:
        """The results asked about, each once; none if none is differentiable."""
        return self._among([output for output in self.outputs if output.requires_grad])

    def others(self) -> list[torch.Tensor]:
        """The differentiable results that are not asked about."""
        chosen = {id(each) for each in self.chosen()}
        return [output for output in self.outputs if output.requires_grad and id(output) not in chosen]

    def real(self) -> list[int]:
        """Which arguments are differentiable, whether or not they require a gradient."""
        return [index for index, each in enumerate(self.arguments) if each.is_floating_point()]

    def again(self, *values: torch.Tensor) -> list[torch.Tensor]:
        """The real results of another call, with `values` in place of the arguments that are `real`."""
        given = dict(zip(self.real(), values, strict=True))
        results = self.fn(*(given.get(index, each) for index, each in enumerate(self.arguments)))
        return [result for result in tree_leaves(results) if result.is_floating_point()]

    def total(self, *values: torch.Tensor) -> torch.Tensor:
        """One number of another call: the sum of the results asked about, in a direction."""
        chosen = self._among(self.again(*values))
        return sum(((each * direction(each, number)).sum() for number, each in enumerate(chosen)), torch.zeros(()))

    def _among(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        found = {id(tensor): tensor for number in self.of for tensor in tensors[number % max(len(tensors), 1) :][:1]}
        return list(found.values())


def direction(like: torch.Tensor, number: int) -> torch.Tensor:
    """Odd eighths between -2 and 2, which every type holds exactly; others for each `number`."""
    count = torch.arange(like.numel(), device=like.device).reshape(like.shape)
    return (((count * 5 + number * 3) % 13 - 6) / 4 + 0.125).to(like.dtype)


def directions(tensors: list[torch.Tensor], number: int = 0) -> list[torch.Tensor]:
    """One for each tensor."""
    return [direction(each, number + position) for position, each in enumerate(tensors)]


def batch(tensors: list[torch.Tensor], size: int = 3) -> list[torch.Tensor]:
    """So many directions for each tensor, along a new first dimension."""
    return [
        torch.stack(each) for each in zip(*(directions(tensors, 7 * number) for number in range(size)), strict=True)
    ]
