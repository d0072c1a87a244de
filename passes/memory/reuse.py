"""Which dead memory each allocation of a function can take: linear scan over the function, best fit by size.

The scan is that of linear-scan register allocation (Poletto and Sarkar, "Linear Scan Register Allocation", 1999), with
buffers of many sizes as in the greedy shared objects of Pisarchyk and Lee, "Efficient Memory Management for Deep Neural
Net Inference" (2020). Unlike there, memory that waits for its next use counts: where holding it would raise the
function's peak, it is freed. n log n for n buffers, but for sums over a slice of the profile, which numpy makes.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Mapping, Set
from math import inf

from dovetail.dialects.memory.buffer import Buffer, MemoryOrigin
from dovetail.dialects.memory.buffers import Buffers
from dovetail.dialects.memory.memory_use import live_bytes

LEAST_BYTES = 4096
"""Allocations from this size on, a page, take dead memory: smaller ones cost less than to show memory anew."""

MOST_WASTE = 2
"""How many times larger than needed memory may be."""


class Scan:
    """The allocations of one function, looked at in order.

    `held` is what each buffer holds in bytes, `donated` are arguments that may be overwritten, what is `elsewhere` lies
    on another device than allocations do. What no later op uses ends with its last use, in `ends` (position of the
    op after which it is gone); what is handed out never does.
    """

    def __init__(
        self, buffers: Buffers, held: Mapping[Buffer, int], donated: frozenset[Buffer], elsewhere: Set[Buffer]
    ):
        self.held = dict(held)
        self.handed_out = {buffer for one in buffers.used(buffers.ops[-1]) for buffer in one.may_be}
        self.ends = {buffer: buffer.last for buffer in buffers.all if buffer.last < len(buffers.ops) - 1}
        gone = {buffer: end + 1 for buffer, end in self.ends.items()}
        self.profile = live_bytes(buffers, held, gone)
        # What may be a view counts as a copy in the profile, as none in the peak: so the peak does not rise either way.
        self.peak = int(live_bytes(buffers, {buffer: held[buffer] for buffer in held if not buffer.within}, gone).max())
        reusable = [buffer for buffer in buffers.all if buffer not in elsewhere and self._is_reusable(buffer, donated)]
        # By the last use of memory, through whatever view.
        deaths = [max([buffer.last, *(view.last for view in buffer.views)]) for buffer in reusable]
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

    def _is_reusable(self, buffer: Buffer, donated: frozenset[Buffer]) -> bool:
        is_ours = buffer.origin in (MemoryOrigin.ALLOCATED, MemoryOrigin.EXACT) or buffer in donated
        is_gone = buffer in self.ends and all(view in self.ends for view in buffer.views)
        is_ours = is_ours and buffer in self.held
        return is_ours and is_gone and buffer.kept_by is None and buffer not in self.handed_out

    def _best_fit(self, wanted: Buffer) -> int | None:
        """Of the smallest memory that is large enough, what died last: it may still be in a cache."""
        first = bisect_left(self.pool, (wanted.nbytes,))
        if first == len(self.pool):
            return None
        nbytes = self.pool[first][0]
        # What is handed out must not pin more than its own bytes.
        most = wanted.nbytes * (1 if wanted in self.handed_out else MOST_WASTE)
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
