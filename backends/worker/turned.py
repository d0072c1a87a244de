"""The tiles of kernels in which few elements trade places with many: of the closed list, as `configurations.py` is."""

from dovetail.backends.worker.configurations import VECTOR_BITS, deal, divisor
from dovetail.backends.worker.loops import OPEN, Loops
from dovetail.backends.worker.tilings import LANES, Tiles

_THREADS = 64
_MOST_TURNED = 16
_MOST_ELEMENTS = 40
"""Of each tensor, in one thread's registers: nine filters of four numbers, and no more than that of sixteen."""


def turned(loops: Loops) -> Tiles | None:
    """A thread takes all of the few, of a vector of neighbours of the many, and turns them in its registers.

    So it reads and writes whole vectors. Tiles divide all that they cut: nothing is masked.
    """
    extents = loops.extents
    if loops.reduces or len(loops.inner) != 2:
        return None
    few, many = sorted(loops.inner, key=lambda loop: extents[loop])
    if not 1 < extents[few] <= _MOST_TURNED or extents[few] == extents[many]:
        return None
    vector = divisor(extents[many], min(VECTOR_BITS // loops.bits, _MOST_ELEMENTS // extents[few]))
    while vector > 1:
        if tiles := _tiles(loops, few, many, vector):
            return tiles
        vector //= 2
    return None


def _tiles(loops: Loops, few: int, many: int, vector: int) -> Tiles | None:
    """Tiles with so many neighbours a thread, if that leaves a subgroup's threads for a workgroup."""
    extents = loops.extents
    thread, workgroup = [1] * len(extents), [1] * len(extents)
    inner = divisor(extents[many] // vector, _THREADS)
    thread[few] = workgroup[few] = extents[few]
    thread[many], workgroup[many] = vector, inner * vector
    others = [loop for loop, extent in enumerate(extents) if loop not in loops.inner and extent != OPEN]
    threads = _THREADS // deal(_THREADS // inner, extents, workgroup, others)
    return Tiles(threads, tuple(thread), tuple(workgroup)) if threads >= LANES else None
