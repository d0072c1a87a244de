"""Work on all GPUs of a host at once."""

import os
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
    names = ["CUDA_VISIBLE_DEVICES"] * 8
    assert {made for _, made in on_each_gpu(os.getenv, names, 2, inf)} <= {"5", "7"}
    halves = CORES[: len(CORES) // 2], CORES[len(CORES) // 2 : len(CORES) // 2 * 2]
    assert all(sorted(made) in halves for _, made in on_each_gpu(os.sched_getaffinity, [0] * 4, 2, inf))
    threads = {made for _, made in on_each_gpu(call, [torch.get_num_threads] * 4, 2, inf)}
    assert threads == {len(each) for each in halves}


def test_nothing_is_begun_late() -> None:
    """Catches a case that is measured when the time of a dear machine is over, or is called measured and was not."""
    assert [*on_each_gpu(abs, [-1, -2], 1, inf)] == [(-1, 1), (-2, 2)]
    assert not [*on_each_gpu(abs, [-1, -2], 1, perf_counter())]
