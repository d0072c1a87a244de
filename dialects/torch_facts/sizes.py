"""What a size of a tensor is: a number, known when the graph is compiled.

Who needs the number itself asks `static`, so that a size can become a value of the IR here first.
"""

from collections.abc import Iterable

Size = int
Sizes = tuple[Size, ...]


OpenSize = Size | None
"""A size, or None where it is known only when the program runs."""


def parse_sizes(text: str) -> tuple[OpenSize, ...]:
    """The sizes that "2,?" says."""
    return tuple(None if size == "?" else int(size) for size in text.split(",") if size)


def print_sizes(sizes: Iterable[OpenSize], separator: str = ",") -> str:
    """The text that `parse_sizes` reads."""
    return separator.join("?" if size is None else str(size) for size in sizes)


def static(sizes: Iterable[OpenSize]) -> tuple[int, ...]:
    """The sizes as numbers.

    Raises:
        ValueError: if one is open.
    """
    found = tuple(sizes)
    known = tuple(size for size in found if size is not None)
    if len(known) < len(found):
        raise ValueError(f"expected known sizes, got [{print_sizes(found)}]")
    return known


def row_major(sizes: Iterable[Size]) -> tuple[int, ...]:
    """Strides in elements of the row-major layout, as PyTorch computes them for empty tensors too."""
    strides, step = [], 1
    for size in reversed(static(sizes)):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))
