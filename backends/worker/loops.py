"""Nests of loops: how far each runs, and what it does."""

from dataclasses import dataclass

OPEN = 0
"""The extent of a loop that is known only when it runs: a tile of any size has its end masked."""


@dataclass(frozen=True)
class Loops:
    """The nest of loops of one op.

    Attributes:
        extents: iterations of each loop, outermost first; `OPEN` where only a call tells them.
        reduced: whether each reduces.
        inner: the loops, by number, whose neighbours lie beside each other in memory for some operand of all loops.
        bits: of the widest element that the op writes, or reads along an inner loop.
        written: of the widest that it writes.
    """

    extents: tuple[int, ...]
    reduced: tuple[bool, ...]
    inner: frozenset[int]
    bits: int
    written: int

    @property
    def is_open(self) -> bool:
        """Whether it is known only when it runs how far any loop goes."""
        return OPEN in self.extents

    @property
    def reduces(self) -> bool:
        """Whether any loop reduces."""
        return any(self.reduced)

    @property
    def reduces_rows(self) -> bool:
        """Whether the last loop reduces, and no other, and operands lie that way."""
        last = len(self.reduced) - 1
        return last >= 0 and self.reduced == (False,) * last + (True,) and self.inner == {last}

    @property
    def reduces_columns(self) -> bool:
        """Whether one loop reduces, and a loop that doesn't goes along the memory of each operand."""
        return sum(self.reduced) == 1 and bool(self.inner) and not any(self.reduced[loop] for loop in self.inner)
