"""The worker that reads launch plans: asked again while it lives, replaced when it ended."""

import fcntl
import os
import signal
import socket
import sys
import termios
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from failing import has_ended

from dovetail.backends.compiling import iree_worker, source
from dovetail.backends.compiling.iree_worker import IreeWorker

TEXT = b"module {}"
ASKED = {"task": "plans", "names": ["main"]}
ANSWER = ({"plans": {"main": {"unreadable": "there is no such function"}}, "codes": {}}, b"")


@pytest.fixture(scope="module")
def shared() -> Iterator[IreeWorker]:
    """Its source, which takes longer to start than a test, outlives the tests that don't end it."""
    made = IreeWorker()
    yield made
    made.end()


@pytest.fixture
def worker(shared: IreeWorker) -> Iterator[IreeWorker]:
    """Has no process that answers yet."""
    yield shared
    for each in shared._idle:
        each.end()
    shared._idle.clear()


def pid(worker: IreeWorker) -> int:
    return worker._idle[-1].number


def kill_source(worker: IreeWorker) -> None:
    source = worker._source
    assert source is not None
    source._process.send_signal(signal.SIGKILL)
    source._process.wait()


def unread(asked: iree_worker._Worker) -> int:
    """The bytes that were sent to the worker and that it has not read."""
    answer = fcntl.ioctl(asked._connection.fileno(), termios.TIOCOUTQ, bytes(4))
    return int.from_bytes(answer, sys.byteorder)


def soon(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_one_worker_answers_again_and_again(worker: IreeWorker):
    """Would catch a process for each text, which takes longer than the compiler's own last phase."""
    assert worker.ask(ASKED, TEXT, 60) == ANSWER
    first = pid(worker)
    assert worker.ask(ASKED, TEXT, 60) == ANSWER
    assert pid(worker) == first


def test_a_worker_that_was_killed_is_told_and_replaced(worker: IreeWorker):
    """Would catch a worker that stays broken, or waits for ever, after a crash in IREE's library."""
    worker.ask(ASKED, TEXT, 60)
    os.kill(pid(worker), signal.SIGKILL)
    with pytest.raises(OSError, match="exit status -9, no message"):
        worker.ask(ASKED, TEXT, 60)
    assert worker.ask(ASKED, TEXT, 60) == ANSWER


def test_text_that_is_none_is_told(worker: IreeWorker):
    """Would catch a reason that says nothing, or the text of one question taken for the answer to the next."""
    with pytest.raises(OSError, match="exit status 1, "):
        worker.ask(ASKED, b"no module", 60)
    assert worker.ask(ASKED, TEXT, 60) == ANSWER


def test_a_worker_that_ended_for_want_of_work_is_no_failure(worker: IreeWorker):
    """Would catch a region without a plan because the user thought for half a minute."""
    worker.ask(ASKED, TEXT, 60)
    first = pid(worker)
    worker._idle[-1]._connection.send_bytes(b"[]")
    worker._idle[-1]._connection.close()  # as where the holder ended: the worker ends with 0
    assert worker.ask(ASKED, TEXT, 60) == ANSWER
    assert pid(worker) != first


def test_a_slow_worker_is_ended(worker: IreeWorker):
    """Would catch a compilation that waits for ever for a worker that hangs."""
    worker.ask(ASKED, TEXT, 60)
    os.kill(pid(worker), signal.SIGSTOP)
    with pytest.raises(OSError, match="exit status -9"):
        worker.ask(ASKED, TEXT * 1_000_000, 0.2)


def test_as_many_answer_as_are_asked(worker: IreeWorker):
    """Would catch questions that wait for one another: sixteen cores compiled as fast as one text was edited."""
    worker.ask(ASKED, TEXT, 60)
    first = pid(worker)
    os.kill(first, signal.SIGSTOP)
    with ThreadPoolExecutor(3) as pool:
        waiting = pool.submit(worker.ask, ASKED, TEXT, 60)
        assert soon(lambda: not worker._idle), "no thread took the worker"
        others = [pool.submit(worker.ask, ASKED, TEXT, 60) for _ in range(2)]
        assert [each.result() for each in others] == [ANSWER] * 2
        assert not waiting.done()
        os.kill(first, signal.SIGCONT)
        assert waiting.result() == ANSWER
    assert first in [each.number for each in worker._idle]


def test_workers_end_with_whoever_asks(worker: IreeWorker):
    """Would catch processes that are left behind, one of which hangs."""
    worker.ask(ASKED, TEXT, 60)
    left = pid(worker)
    os.kill(left, signal.SIGSTOP)
    worker.end()
    assert has_ended(left), "the worker still runs"


def test_a_source_that_ended_is_replaced(worker: IreeWorker):
    """Would catch a compilation that fails since another one was half a minute ago."""
    worker.ask(ASKED, TEXT, 60)
    worker._source._socket.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]
    worker._idle.clear()
    assert worker.ask(ASKED, TEXT, 60) == ANSWER


@pytest.mark.parametrize("idle", [0, 2])
def test_a_source_that_was_killed_is_replaced(worker: IreeWorker, idle: int):
    """Would catch regions that fail for the rest of the process since the system once lacked memory."""
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: worker.ask(ASKED, TEXT, 60), range(2)))
    del worker._idle[idle:]
    kill_source(worker)
    assert [worker.ask(ASKED, TEXT, 60) for _ in range(2)] == [ANSWER] * 2


def test_a_source_that_was_killed_is_started_before_it_is_needed(worker: IreeWorker):
    """Would catch a first text that waits for imports."""
    worker.start(edits=False)
    kill_source(worker)
    worker.start(edits=False)
    assert worker._source is not None
    assert worker._source.runs()


def test_a_source_that_hangs_is_replaced(worker: IreeWorker):
    """Would catch each text that fails after one whose worker took too long to start."""
    worker.ask(ASKED, TEXT, 60)
    worker._idle.clear()
    worker._source._process.send_signal(signal.SIGSTOP)  # type: ignore[union-attr]
    worker._source._socket.settimeout(0.1)  # type: ignore[union-attr]
    assert worker.ask(ASKED, TEXT, 60) == ANSWER


def test_a_worker_ends_with_its_source(worker: IreeWorker):
    """Would catch a text that is waited for without a bound, since nobody is left to end its worker."""
    worker.ask(ASKED, TEXT, 60)
    asked, [taken] = pid(worker), list(worker._idle)
    os.kill(asked, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(worker.ask, ASKED, TEXT, 60)
        assert soon(lambda: unread(taken) > len(TEXT)), "no thread asks the worker"
        kill_source(worker)
        ended = has_ended(asked)
        if not ended:
            os.kill(asked, signal.SIGKILL)  # or this test would wait for it
        with pytest.raises(OSError, match="exit status -9"):
            waiting.result()
    assert ended, "the worker still runs"
    assert worker.ask(ASKED, TEXT, 60) == ANSWER


def test_how_a_worker_ended_is_asked_of_a_source_that_was_replaced(worker: IreeWorker):
    """Would catch a file that is read after it was closed: that is no OSError, so it would end the compilation."""
    worker.ask(ASKED, TEXT, 60)
    old = worker._idle.pop()
    kill_source(worker)
    assert worker.ask(ASKED, TEXT, 60) == ANSWER
    with pytest.raises(OSError, match="exit status -9, no message"):
        old.ask(ASKED, TEXT, 60)
    old.end()


def test_an_interrupted_answer_is_not_the_next_ones(worker: IreeWorker, monkeypatch: pytest.MonkeyPatch):
    """Would catch Ctrl-C after which every region gets the answer to what was asked before, and so fails."""
    worker.ask(ASKED, TEXT, 60)
    assert worker._source is not None
    asked = worker._source._socket

    class Interrupted:
        sendall = asked.sendall

        def recv(self, _: int) -> bytes:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(worker._source, "_socket", Interrupted())
        with pytest.raises(KeyboardInterrupt):
            worker._source.status(worker._idle[0].number)
    assert worker.ask(ASKED, TEXT, 60) == ANSWER


def test_a_source_that_ends_at_once_is_told(worker: IreeWorker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch sources that are started for ever, and one that is asked although it never ran."""
    script = tmp_path / "main.py"
    script.write_text(f"open({str(tmp_path / 'starts')!r}, 'a').write('x')\nraise SystemExit('no memory')")
    worker.end()
    with monkeypatch.context() as patched:
        patched.setattr(source, "SCRIPT", script)
        for starts in ("x", "xx"):
            with pytest.raises(OSError, match="exit status 1, no memory"):
                worker.ask(ASKED, TEXT, 60)
            assert (tmp_path / "starts").read_text() == starts
    assert worker.ask(ASKED, TEXT, 60) == ANSWER


def test_a_forked_child_has_a_worker_of_its_own():
    """Would catch two processes that read one another's answers from one connection."""
    iree_worker.worker.ask(ASKED, TEXT, 60)
    child = os.fork()
    if child == 0:
        status = 1
        try:  # the child must not go on as a second pytest
            is_new = iree_worker.worker._source is None and not iree_worker.worker._idle
            answered = iree_worker.worker.ask(ASKED, TEXT, 60) == ANSWER
            iree_worker.worker.end()
            status = 0 if is_new and answered else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert iree_worker.worker.ask(ASKED, TEXT, 60) == ANSWER
