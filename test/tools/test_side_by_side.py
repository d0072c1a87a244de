"""Work on all GPUs of a host at once."""

import os
from functools import partial
from math import inf
from operator import call
from time import perf_counter

import pytest
import torch

from dovetail.tools.gpu.side_by_side import on_each_gpu

pytestmark = pytest.mark.slow  # each process imports PyTorch

CORES = sorted(os.sched_getaffinity(0))


def test_each_process_has_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches two cases on one GPU, or on the same cores, where each slows the other, or has threads for
    all cores; and GPUs that the user hid."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,7")
    asked = partial(os.getenv, "CUDA_VISIBLE_DEVICES"), partial(os.sched_getaffinity, 0), torch.get_num_threads
    gpus, cores, threads = (set[object](), set[object](), set[object]())
    for each, made in on_each_gpu(call, [*asked * 4], 2, inf):
        (gpus, cores, threads)[asked.index(each)].add(made if isinstance(made, str | int) else tuple(sorted(made)))
    half = len(CORES) // 2
    assert gpus <= {"5", "7"}
    assert cores <= {(*CORES[:half],), (*CORES[half : 2 * half],)}
    assert threads == {half}


def test_nothing_is_begun_late() -> None:
    """Catches a case that is measured when the time of a dear machine is over, or is called measured and was not."""
    assert not [*on_each_gpu(abs, [-1, -2], 1, perf_counter())]
