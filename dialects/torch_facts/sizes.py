"""What a tensor's type says of a size: a number, or nothing where it is open.

Who needs the number asks `static`; what is known of an open size, `dialects/sizes/symbols.py` tells.
"""

from collections.abc import Iterable

Sizes = tuple[int, ...]

OpenSize = int | None
"""What a tensor's type says of a size that may be open: None if it is. What is known of it is a `KnownSize`."""

LARGEST = 2**63 - 1
"""The largest size, as of any whole number in a program: PyTorch has 64 bits for it."""


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


def row_major(sizes: Iterable[int]) -> tuple[int, ...]:
    """Strides in elements of the row-major layout, as PyTorch computes them for empty tensors too."""
    strides, step = [], 1
    for size in reversed(static(sizes)):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))
