"""Fair times: cold caches, interleaved calls, medians."""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from time import perf_counter

import torch

# The reset of inductor's on-disk and in-process caches that PyTorch's own benchmarks use; there is no public one.
from torch._inductor.utils import fresh_cache

CACHE_VARIABLE = "DOVETAIL_CACHE_DIR"


@contextmanager
def cold_caches() -> Iterator[None]:
    """Nothing compiled before is found again inside: Dynamo is reset, inductor and Dovetail get empty caches."""
    before = os.environ.get(CACHE_VARIABLE)
    torch.compiler.reset()
    with tempfile.TemporaryDirectory(prefix="dovetail-cache-") as directory, fresh_cache():
        os.environ[CACHE_VARIABLE] = directory
        try:
            yield
        finally:
            if before is None:
                del os.environ[CACHE_VARIABLE]
            else:
                os.environ[CACHE_VARIABLE] = before


def seconds(call: Callable[[], object]) -> float:
    """Wall time of one call, in seconds."""
    start = perf_counter()
    call()
    return perf_counter() - start


def said_by_process(module: str, *arguments: str) -> float:
    """What `module`, run in a new process that shares this one's caches, says last: a number of seconds.

    Raises:
        subprocess.CalledProcessError: if it fails.
    """
    with tempfile.TemporaryFile("w+") as output:  # no pipe: a compiler's workers would hold it open
        subprocess.run([sys.executable, "-m", module, *arguments], check=True, stdout=output)
        output.seek(0)
        return float(output.read().split()[-1])


def interleaved_medians(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds per call over `rounds` samples of one call each."""
    return {name: median(times) for name, times in interleaved_samples(calls, rounds).items()}


def interleaved_samples(
    calls: Mapping[str, Callable[[], object]], rounds: int, inner: int = 1
) -> dict[str, list[float]]:
    """Seconds per call: `rounds` samples of `inner` calls each.

    The candidates take turns, each round in another order drawn at random, so that a slow moment of the machine and the
    caches that the previous candidate left behind fall on all alike.
    """
    order = random.Random(0)
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name in order.sample(list(calls), len(calls)):
            start = perf_counter()
            for _ in range(inner):
                calls[name]()
            samples[name].append((perf_counter() - start) / inner)
    return samples
