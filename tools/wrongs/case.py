"""What one row of the table is."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

Facts = dict[str, Any]
"""What an observation saw, by name: plain values that JSON can hold, equal whenever the behaviour is."""

Observation = Callable[[Callable], Facts]
"""Makes inputs, calls the function that it is given (as it is, or compiled), and says what the caller then sees."""


@dataclass(frozen=True)
class Case:
    """A function that is easy to compile wrongly, and how to tell.

    Attributes:
        name: short; on the command line and in tests.
        title: the row's title, in Markdown.
        function: what is compiled.
        observations: each runs in a process of its own. Several run in the order given and in reverse, and the
            processes of one order share a cache on disk.
        upstream: number of PyTorch's issue, None where none was found.
    """

    name: str
    title: str
    function: Callable
    observations: tuple[Observation, ...]
    upstream: int | None = None

    def orders(self) -> list[tuple[Observation, ...]]:
        """The orders in which the observations run."""
        return [self.observations] if len(self.observations) == 1 else [self.observations, self.observations[::-1]]


def fact_name(order: tuple[Observation, ...], observation: Observation, name: str) -> str:
    """`name` as it is in a case with one observation, else with where in which order it was seen."""
    if len(order) == 1:
        return name
    before = order[: order.index(observation)]
    return f"{name} when {observation.__name__} is {f'after {before[-1].__name__}' if before else 'first'}"


def gradient_of(tensor: torch.Tensor) -> list | None:
    """The gradient that a tensor got, as a fact."""
    return None if tensor.grad is None else tensor.grad.tolist()
