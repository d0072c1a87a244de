"""Threads that compile and call at the same time, and processes that fork."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from failing import X, call, fork, program, wait

import dovetail
from dovetail.variants import MAX_VARIANTS


def at_once(count: int, run: Callable[[int], object]) -> None:
    """Calls `run` in as many threads, which begin together; raises what one of them raised."""
    barrier = threading.Barrier(count)

    def begin(number: int) -> None:
        barrier.wait()
        run(number)

    with ThreadPoolExecutor(count) as pool:
        list(pool.map(begin, range(count)))


@pytest.mark.slow
def test_32_threads_compile_and_call():
    """Would catch state of the compiler that threads share, and one's numbers in another's result."""
    functions = [lambda x, factor=factor: x.exp() * factor for factor in (2, 3, 5, 7)]
    compiled = [torch.compile(function, backend="dovetail") for function in functions]

    def run(number: int) -> None:
        for step in range(5):
            x = X / 8 + number + step
            torch.testing.assert_close(compiled[number % 4](x), functions[number % 4](x))

    at_once(32, run)


@pytest.mark.slow
@pytest.mark.usefixtures("remembered_runs")
def test_32_threads_share_memory_in_new_ways():
    """Would catch a variant for each thread: they are compiled outside of Dynamo's lock, and only so many are made."""
    compiled = torch.compile(lambda x, y: x.mul_(2).sum() + y.sum(), backend="dovetail", fullgraph=True)
    compiled(torch.ones(30), torch.ones(30))
    before = dovetail.stats()

    def run(number: int) -> None:
        base = torch.ones(64)
        distance = 1 + number % 2
        assert compiled(base[:30], base[distance : distance + 30]) == 60 + 30 + 30 - distance

    at_once(32, run)
    after = dovetail.stats()
    assert after.variants - before.variants == 2 < MAX_VARIANTS
    assert after.eager == before.eager


@pytest.mark.usefixtures("remembered_runs")
def test_a_fork_after_the_first_call():
    """Would catch a child that waits for threads of its parent's, or that can't compile."""
    compiled = torch.compile(lambda *given: [program(x) for x in given], backend="dovetail")
    given = torch.ones(12), torch.ones(1 << 18)  # of the calling thread's and of the pool's
    expected = compiled(*given)

    def child():
        torch.set_num_threads(1)  # ATen's own threads do not survive a fork
        assert all(map(torch.equal, compiled(*given), expected))
        assert call().regions == 1
        other = torch.compile(lambda *given: [x.neg() - 1 for x in given], backend="dovetail")
        assert [each.sum() for each in other(*given)] == [-2 * x.numel() for x in given]

    pid = fork(child)
    assert wait(pid) == 0
    assert all(map(torch.equal, compiled(*given), expected))


def test_a_fork_before_the_first_call():
    """Would catch two processes that compile the same and get in each other's way."""
    children = [fork(lambda: call() and None) for _ in range(2)]
    assert call().regions == 1
    assert [wait(pid) for pid in children] == [0, 0]
