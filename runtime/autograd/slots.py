"""Where each thing lies that a compiled call leaves for its backward."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from dovetail.runtime.autograd.border import Border
from dovetail.runtime.autograd.histories import alias


@dataclass(frozen=True)
class Slots:
    """The slots of what a call leaves: checked results of the forward, private ones, then arguments.

    `arguments` are the numbers of those that are kept.
    """

    border: Border
    arguments: tuple[int, ...]

    @cached_property
    def results(self) -> tuple[int, ...]:
        """The forward's result in each slot that has one."""
        checked, private = (
            [each.position for each in self.border.saved if each.is_checked is wanted] for wanted in (True, False)
        )
        return (*checked, *self.border.checked_results, *private)

    @cached_property
    def checked(self) -> int:
        """How many slots the user can reach the memory of."""
        return sum(each.is_checked for each in self.border.saved) + len(self.border.checked_results)

    @cached_property
    def of_saved(self) -> tuple[int, ...]:
        """The slot of each saved value."""
        return tuple(self.results.index(each.position) for each in self.border.saved)

    @cached_property
    def frees(self) -> tuple[tuple[int, frozenset[int]], ...]:
        """By result, the groups that its backward frees; none where autograd frees all at once, and notices itself."""
        is_noticed = self.border.checks is None and len(self.results) + len(self.arguments) > 0
        return () if is_noticed else self.border.frees

    def filled(self, results: Sequence, arguments: Sequence) -> list[torch.Tensor]:
        """The tensors that a call leaves, by slot; aliases of arguments."""
        left = [*map(results.__getitem__, self.results), *map(arguments.__getitem__, self.arguments)]
        for slot in self.of_arguments:
            left[slot] = alias(left[slot])
        return left

    @cached_property
    def of_arguments(self) -> tuple[int, ...]:
        """The slots of what may be an argument, as a saved value that the user can reach the memory of may."""
        saved = (slot for slot in range(self.checked) if self.results[slot] >= self.border.owned)
        return (*saved, *range(len(self.results), len(self.results) + len(self.arguments)))

    def zeros(self, numbers: Mapping[int, int | torch.Size]) -> list:
        """Stand-ins for saved values that are multiplied only with gradients that are absent.

        `numbers` are the saved values that are no tensors, and the sizes of those whose types leave some open.
        """
        made: list = [None] * len(self.results)
        for index, (slot, each) in enumerate(zip(self.of_saved, self.border.saved, strict=True)):
            given: Any = numbers.get(index, each.type[0] if each.type else None)
            made[slot] = given if each.type is None else torch.zeros(given, dtype=each.type[1], device=each.device)
        return made

    @cached_property
    def open(self) -> tuple[int, ...]:
        """The saved values that are numbers, or have open sizes."""
        saved = enumerate(self.border.saved)
        return tuple(index for index, each in saved if each.type is None or None in each.type[0])

    def numbers(self, left: Sequence) -> dict[int, int | torch.Size]:
        """What `zeros` must know of one call."""
        found = ((index, left[self.of_saved[index]]) for index in self.open)
        return {index: value.size() if isinstance(value, torch.Tensor) else value for index, value in found}
