"""The tiles of kernels that transpose through memory which a workgroup shares: IREE's, or twice as many numbers."""

import re

from dovetail.backends.worker.configurations import HALF
from dovetail.backends.worker.loops import Loops

_TILE = 32
"""Iterations of each of IREE's two loops that trade places."""


def transposed(loops: Loops, stated: str) -> str | None:
    """IREE's attribute `stated` of an op, with twice as many numbers of what is turned; None where that has no form.

    Of 16 bits, 32 numbers are half of what memory is read by at once. Each of IREE's threads takes two vectors then.
    """
    workgroup = _numbers(stated)
    turned = [loop for loop, size in enumerate(workgroup[:-1]) if size == _TILE]
    if loops.bits != HALF or len(workgroup) != len(loops.extents) or workgroup[-1] != _TILE or len(turned) != 1:
        return None
    [other] = turned
    if loops.inner != {other, len(workgroup) - 1} or not loops.extents[other] or loops.extents[other] % (2 * _TILE):
        return None
    workgroup[other] *= 2
    return re.sub(_WORKGROUP, f"workgroup = {workgroup}", stated)


_WORKGROUP = r"workgroup = \[([0-9, ]+)\]"


def _numbers(stated: str) -> list[int]:
    found = re.search(_WORKGROUP, stated)
    return [int(number) for number in found[1].split(",")] if found else []
