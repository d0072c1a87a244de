"""Where each thing lies that a compiled call leaves for its backward."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from dovetail.runtime.autograd.border import Border


@dataclass(frozen=True)
class Slots:
    """The slots of what a call leaves: checked results of the forward, private ones, then arguments.

    `arguments` are the numbers of those that are kept, `names` the user's for all arguments.
    """

    border: Border
    arguments: tuple[int, ...]
    names: Sequence[str]

    @cached_property
    def results(self) -> tuple[int, ...]:
        """The forward's result in each slot that has one."""
        kinds = list(zip(self.border.positions, self.border.saved, strict=True))
        checked, private = ([position for position, kind in kinds if kind == each] for each in ("checked", "private"))
        return (*checked, *self.border.checked_results, *private)

    @cached_property
    def checked(self) -> int:
        """How many slots the user can reach the memory of."""
        return self.border.saved.count("checked") + len(self.border.checked_results)

    @cached_property
    def of_saved(self) -> tuple[int, ...]:
        """The slot of each saved value."""
        return tuple(map(self.results.index, self.border.positions))

    @cached_property
    def frees(self) -> tuple[tuple[int, frozenset[int]], ...]:
        """By result, the groups that its backward frees; none where autograd frees all at once, and notices itself."""
        is_noticed = self.border.checks is None and len(self.results) + len(self.arguments) > 0
        return () if is_noticed else self.border.frees

    def filled(self, results: Sequence, arguments: Sequence) -> list[torch.Tensor]:
        """The tensors that a call leaves, by slot."""
        return [*map(results.__getitem__, self.results), *map(arguments.__getitem__, self.arguments)]

    def zeros(self, numbers: Mapping[int, int | torch.Size]) -> list:
        """Stand-ins for saved values that are multiplied only with gradients that are absent.

        `numbers` are the saved values that are no tensors, and the sizes of those whose types leave some open.
        """
        made: list = [None] * len(self.results)
        for index, (slot, type_) in enumerate(zip(self.of_saved, self.border.saved_types, strict=True)):
            given: Any = numbers.get(index, type_[0] if type_ else None)
            made[slot] = given if type_ is None else torch.zeros(given, dtype=type_[1])
        return made

    @cached_property
    def open(self) -> tuple[int, ...]:
        """The saved values that are numbers, or have open sizes."""
        types = enumerate(self.border.saved_types)
        return tuple(index for index, type_ in types if type_ is None or None in type_[0])

    def numbers(self, left: Sequence) -> dict[int, int | torch.Size]:
        """What `zeros` must know of one call."""
        found = ((index, left[self.of_saved[index]]) for index in self.open)
        return {index: value.size() if isinstance(value, torch.Tensor) else value for index, value in found}
