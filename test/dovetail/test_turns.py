"""What a compilation changes of Python's threads, and changes back."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable

import pytest
import torch

from dovetail import compiler
from dovetail.turns import with_short_turns


@with_short_turns
def _fail() -> None:
    raise ValueError("a defect")


def test_turns_are_as_before():
    """Catches a graph that does not compile, after which threads take turns ten thousand times a second."""
    before = sys.getswitchinterval()
    with pytest.raises(ValueError, match="a defect"):
        _fail()
    assert sys.getswitchinterval() == before


def test_turns_are_as_before_two_that_overlap():
    """Catches a thread that puts back what another one set, which has threads take short turns for ever."""
    before = sys.getswitchinterval()
    begun, over = threading.Event(), threading.Event()

    @with_short_turns
    def other() -> None:
        begun.set()
        over.wait()

    @with_short_turns
    def one() -> None:
        thread.start()
        begun.wait()

    thread = threading.Thread(target=other)
    one()
    assert sys.getswitchinterval() < before, "the other one still compiles"
    over.set()
    thread.join()
    assert sys.getswitchinterval() == before


def _interrupting(number: int) -> Callable:
    """What, as a profile, interrupts this thread where Python asks for signals: before the call of a function in Python
    and after one in C, as often as `number` says."""
    left = [number]

    def profile(frame, event, argument):
        if event in ("call", "c_return"):
            left[0] -= 1
            if left[0] < 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

    return profile


def test_turns_are_as_before_an_interrupt():
    """Catches a Ctrl-C between two lines that leaves threads with short turns for the rest of the process."""
    before, interrupted = sys.getswitchinterval(), 0
    work = with_short_turns(lambda: None)
    while interrupted < 1000:
        sys.setprofile(_interrupting(interrupted))
        try:
            work()
            break
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.setprofile(None)
        deadline = time.monotonic() + 30
        while sys.getswitchinterval() != before and time.monotonic() < deadline:
            time.sleep(0.001)
        assert sys.getswitchinterval() == before, f"interrupted at the call {interrupted}"
    assert 10 < interrupted < 1000


def _forked(child: Callable[[], bool]) -> int:
    """The exit status of a fork: 0 if `child` is true there."""
    pid = os.fork()
    if not pid:
        signal.alarm(20)
        os._exit(0 if child() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_turns_are_as_before_in_a_fork():
    """Catches a fork beside a compilation that takes short turns for ever, as nobody is left there to put them back.

    And one that compiles itself, and waits for that for ever.
    """
    before = sys.getswitchinterval()
    begun, over, seen = threading.Event(), threading.Event(), []

    @with_short_turns
    def beside() -> None:
        begun.set()
        over.wait()

    def compiles_anew() -> bool:
        is_as_before = sys.getswitchinterval() == before
        with_short_turns(lambda: None)()
        return is_as_before and sys.getswitchinterval() == before

    thread = threading.Thread(target=beside)
    thread.start()
    begun.wait()
    seen.append(_forked(compiles_anew))
    over.set()
    thread.join()
    parent = os.getpid()

    @with_short_turns
    def within() -> int:
        pid = os.fork()
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) if pid else signal.alarm(20)

    status = within()
    if os.getpid() != parent:
        os._exit(0 if sys.getswitchinterval() == before else 1)
    assert [*seen, status] == [0, 0]
    assert sys.getswitchinterval() == before


def test_compilations_take_short_turns(op_by_op, monkeypatch):
    """Catches a compilation that keeps those waiting who hand texts to compilers."""
    seen = []
    build = compiler.build

    def noting(*arguments):
        seen.append(sys.getswitchinterval())
        return build(*arguments)

    monkeypatch.setattr(compiler, "build", noting)
    before = sys.getswitchinterval()
    torch.compile(lambda x: x.sin() + 1, backend="dovetail")(torch.rand(3))
    assert len(seen) == 1
    assert seen[0] < before
    assert sys.getswitchinterval() == before
