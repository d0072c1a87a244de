"""What a size of a tensor is: a number, known when the graph is compiled.

Who needs the number itself asks `static`, so that a size can become a value of the IR here first.
"""

from collections.abc import Iterable
from math import prod

Size = int
Sizes = tuple[Size, ...]


def parse_sizes(text: str) -> Sizes | None:
    """The sizes that "2,3" says; None where a "?" leaves one open."""
    return None if "?" in text else tuple(int(size) for size in text.split(",") if size)


def print_sizes(sizes: Iterable[Size]) -> str:
    """The text that `parse_sizes` reads."""
    return ",".join(map(str, sizes))


def static(sizes: Iterable[Size]) -> tuple[int, ...]:
    """The sizes as numbers."""
    return tuple(sizes)


def numel(sizes: Iterable[Size]) -> int:
    """How many elements a tensor of these sizes has."""
    return prod(static(sizes))


def row_major(sizes: Iterable[Size]) -> tuple[int, ...]:
    """Strides in elements of the row-major layout, as PyTorch computes them for empty tensors too."""
    strides, step = [], 1
    for size in reversed(static(sizes)):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))
