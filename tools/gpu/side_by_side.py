"""Work on all GPUs of a host at once: one thing at a time on each, by a process that has it and its share of cores."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from time import perf_counter
from typing import Any, TypeVar

import torch

Given = TypeVar("Given")
Made = TypeVar("Made")

_GPUS = "CUDA_VISIBLE_DEVICES"


def on_each_gpu(
    work: Callable[[Given], Made], things: Sequence[Given], gpus: int, deadline: float
) -> Iterator[tuple[Given, Made]]:
    """Each of `things`, with what `work` makes of it, as it ends; none is begun after `deadline`, of `perf_counter`.

    Both are pickled: `work` is a function of a module, or a partial one.
    """
    context = get_context("spawn")  # CUDA can't be used in a fork of a process that uses it
    shares = context.SimpleQueue()
    for index in range(gpus):
        shares.put(index)
    with ProcessPoolExecutor(gpus, context, _take, (shares, gpus)) as pool:
        runs = {pool.submit(_unless_late, work, each, deadline): each for each in things}
        for run in as_completed(runs):
            for made in run.result():
                yield runs[run], made


def _take(shares: Any, count: int) -> None:
    """Leaves this process one GPU of `count` and as many of the cores; before it first uses CUDA."""
    index = shares.get()
    given = os.environ.get(_GPUS)
    os.environ[_GPUS] = given.split(",")[index] if given else str(index)
    cores = sorted(os.sched_getaffinity(0))
    each = max(1, len(cores) // count)
    share = cores[index * each : (index + 1) * each] or cores
    os.sched_setaffinity(0, share)
    torch.set_num_threads(len(share))  # by now it has counted all of them


def _unless_late(work: Callable[[Given], Made], given: Given, deadline: float) -> list[Made]:
    return [work(given)] if perf_counter() < deadline else []
