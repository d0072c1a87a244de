"""Which dead memory each allocation of a function can take: linear scan over the function, best fit by size.

The scan is that of linear-scan register allocation (Poletto and Sarkar, "Linear Scan Register Allocation", 1999), with
buffers of many sizes as in the greedy shared objects of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural
Net Inference" (2020). Unlike there, memory that waits for its next use counts: where holding it would raise the
function's peak, it is freed. n log n for n buffers, but for sums over a slice of the profile, which numpy makes.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping
from math import inf

from dovetail.dialects.memory.buffer import Buffer
from dovetail.dialects.memory.memory_use import live_bytes
from dovetail.passes.memory.lives import Lives

LEAST_BYTES = 4096
"""Allocations from this size on, a page, take dead memory: smaller ones cost less than to show memory anew."""

MOST_WASTE = 2
"""How many times larger than needed memory may be."""


class Scan:
    """The allocations of one function, looked at in order.

    What is `shared` gets the memory of an operand that a region reads while it writes, and counts with it.
    """

    def __init__(self, lives: Lives, shared: Mapping[Buffer, Buffer]):
        self.lives, self.held, self.ends = lives, dict(lives.held), lives.ends
        buffers, passed = lives.buffers, {dead: made.start for made, dead in shared.items()}
        # What is handed out must not pin more than its own bytes, in whatever memory it lies.
        self.exact = lives.handed_out | passed.keys()
        gone = {buffer: end + 1 for buffer, end in self.ends.items()} | passed
        self.profile = live_bytes(buffers, self.held, gone)
        # What may be a view counts as a copy in the profile, as none in the peak: so the peak does not rise either way.
        own = {buffer: nbytes for buffer, nbytes in self.held.items() if not buffer.within}
        self.peak = int(live_bytes(buffers, own, gone).max())
        reusable = [
            each for each in buffers.all if each in self.held and lives.is_reusable(each) and each not in passed
        ]
        deaths = [lives.death(buffer) for buffer in reusable]
        self.waiting = sorted(zip(deaths, range(len(deaths)), reusable, strict=True), reverse=True)
        self.pool: list[tuple[int, int, int, Buffer]] = []

    def take(self, wanted: Buffer) -> Buffer | None:
        """The dead buffer whose memory `wanted` gets, None if it gets its own."""
        if wanted.nbytes < LEAST_BYTES:
            return None
        while self.waiting and self.waiting[-1][0] < wanted.start:
            death, number, buffer = self.waiting.pop()
            insort(self.pool, (self.held[buffer], death, number, buffer))
        index = self._best_fit(wanted)
        if index is None or not self._fits_below_peak(*self.pool[index][:2], wanted):
            return None
        nbytes, _, _, found = self.pool.pop(index)
        self.held[wanted] = nbytes
        return found

    def _best_fit(self, wanted: Buffer) -> int | None:
        """Of the smallest memory that is large enough, what died last: it may still be in a cache."""
        first = bisect_left(self.pool, (wanted.nbytes,))
        if first == len(self.pool):
            return None
        nbytes = self.pool[first][0]
        most = wanted.nbytes * (1 if wanted in self.exact else MOST_WASTE)
        return bisect_right(self.pool, (nbytes, inf)) - 1 if nbytes <= most else None

    def _fits_below_peak(self, nbytes: int, death: int, wanted: Buffer) -> bool:
        """Whether memory can wait from its death on, and then be larger than needed; counts it if so."""
        waits = self.profile[death + 1 : wanted.start]
        stays = self.profile[wanted.start : self.ends.get(wanted, len(self.profile)) + 1]
        waste = nbytes - wanted.nbytes
        if max(waits.max(initial=0) + nbytes, stays.max(initial=0) + waste) > self.peak:
            return False
        waits += nbytes
        stays += waste
        return True
