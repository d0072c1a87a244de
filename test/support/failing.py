"""What the tests that inject failures share: a program, what it must give, and children that must end."""

import os
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import psutil
import torch

import dovetail

X = torch.arange(12.0).reshape(3, 4)


def program(x: torch.Tensor) -> torch.Tensor:
    """Two ops that make one region."""
    return x.exp() * 3


@dataclass(frozen=True)
class Work:
    """What Dovetail counted for one call: regions that run compiled, cache hits, and why others do not."""

    regions: int
    cache_hits: int
    failures: Counter[str]
    eager: Counter[str]


def call(**options) -> Work:
    """Compiles `program` anew, calls it, and holds the result against eager's."""
    torch._dynamo.reset()
    dovetail.stats(reset=True)
    compiled = torch.compile(program, backend="dovetail", options=options)
    torch.testing.assert_close(compiled(X), program(X))
    torch.testing.assert_close(compiled(X + 1), program(X + 1))
    stats = dovetail.stats()
    return Work(stats.regions, stats.cache_hits, stats.failures, stats.eager)


def fork(child: Callable[[], None]) -> int:
    """The process id of a child that runs `child`, and ends with 0 unless that raises."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        child()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def wait(pid: int, seconds: float = 60) -> int:
    """The child's exit status, negative for a signal; it is killed and this fails if it does not end in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError(f"the child did not end within {seconds} s")


def has_ended(pid: int, seconds: float = 10) -> bool:
    """Whether the process ends in time; a zombie has ended, its parent's fault or not."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except (ProcessLookupError, psutil.NoSuchProcess):
            return True
        time.sleep(0.02)
    return False
