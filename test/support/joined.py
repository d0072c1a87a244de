"""Programs that are compiled as one: a graph costs more than what is added to it."""

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice

import torch
from torch.utils._pytree import tree_map

Program = tuple[Callable, Callable[[int], list]]
"""A function, and what makes its arguments of a size."""


def joined(programs: Mapping[str, Program], names: Iterable[str]) -> Program:
    """The programs of these names as one of a list of arguments each, which returns a list of results."""
    functions, makes = zip(*(programs[name] for name in names), strict=True)

    def function(*given):
        return [each(*arguments) for each, arguments in zip(functions, given, strict=True)]

    return function, lambda size: [make(size) for make in makes]


def by(count: int, names: Iterable[str], alone: Collection[str] = ()) -> list[tuple[str, ...]]:
    """The names, so many at a time; those that are `alone` are not told by what is beside them."""
    rest = iter([name for name in names if name not in alone])
    return [*iter(lambda: tuple(islice(rest, count)), ()), *((name,) for name in alone)]


def twins(arguments: list) -> list:
    """Copies of the tensors in lists, which need gradients where those do."""

    def copy(tensor: torch.Tensor) -> torch.Tensor:
        return tensor.detach().clone(memory_format=torch.preserve_format).requires_grad_(tensor.requires_grad)

    return tree_map(copy, arguments)
