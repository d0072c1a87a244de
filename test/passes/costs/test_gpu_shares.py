"""What the passes take for granted of the kernels' tiles, which the worker chooses, is so."""

import pytest

from dovetail.backends.worker.configurations import rows
from dovetail.backends.worker.loops import Loops
from dovetail.passes.costs.gpu_shares import is_held


@pytest.mark.parametrize("few", [1, 64])
def test_rows_that_are_held_are_one_step(few: int) -> None:
    """Catches rows taken for read once that a workgroup goes along in steps, or the other way round."""
    for count in range(4096, 1 << 16, 128):
        tiles = rows(Loops((few, count), (False, True), frozenset({1}), 32, 32))
        assert is_held(count) == (tiles is not None and tiles.tile[-1] == count), count
