"""The worker that reads launch plans: asked again while it lives, replaced when it ended."""

import os
import signal
from collections.abc import Iterator

import pytest

from dovetail.backends import plan_reader
from dovetail.backends.plan_reader import PlanReader

TEXT = b"module {}"
ANSWER = ({"plans": {"main": {"unreadable": "there is no such function"}}, "codes": {}}, b"")


@pytest.fixture
def reader() -> Iterator[PlanReader]:
    made = PlanReader()
    yield made
    made.end()


def pid(reader: PlanReader) -> int:
    assert reader._worker is not None
    return reader._worker._process.pid


def test_one_worker_answers_again_and_again(reader: PlanReader):
    """Would catch a process for each text, which takes longer than the compiler's own last phase."""
    assert reader.read(TEXT, ["main"], 60) == ANSWER
    first = pid(reader)
    assert reader.read(TEXT, ["main"], 60) == ANSWER
    assert pid(reader) == first


def test_a_worker_that_was_killed_is_told_and_replaced(reader: PlanReader):
    """Would catch a reader that stays broken, or waits for ever, after a crash in IREE's library."""
    reader.read(TEXT, ["main"], 60)
    os.kill(pid(reader), signal.SIGKILL)
    with pytest.raises(OSError, match="exit status -9, no message"):
        reader.read(TEXT, ["main"], 60)
    assert reader.read(TEXT, ["main"], 60) == ANSWER


def test_text_that_is_none_is_told(reader: PlanReader):
    """Would catch a reason that says nothing, or the text of one question taken for the answer to the next."""
    with pytest.raises(OSError, match="exit status 1, "):
        reader.read(b"no module", ["main"], 60)
    assert reader.read(TEXT, ["main"], 60) == ANSWER


def test_a_worker_that_ended_for_want_of_work_is_no_failure(reader: PlanReader):
    """Would catch a region without a plan because the user thought for half a minute."""
    reader.read(TEXT, ["main"], 60)
    first = pid(reader)
    reader._worker._connection.send_bytes(b"[]")  # type: ignore[union-attr]
    reader._worker._connection.close()  # type: ignore[union-attr]  # as where the holder ended: the worker ends with 0
    assert reader.read(TEXT, ["main"], 60) == ANSWER
    assert pid(reader) != first


def test_a_slow_worker_is_ended(reader: PlanReader):
    """Would catch a compilation that waits for ever for a worker that hangs."""
    reader.read(TEXT, ["main"], 60)
    os.kill(pid(reader), signal.SIGSTOP)
    with pytest.raises(OSError, match="exit status -9"):
        reader.read(TEXT * 1_000_000, ["main"], 0.2)


def test_a_forked_child_has_a_worker_of_its_own():
    """Would catch two processes that read one another's answers from one connection."""
    plan_reader.reader.read(TEXT, ["main"], 60)
    child = os.fork()
    if child == 0:
        status = 1
        try:  # the child must not go on as a second pytest
            is_new = plan_reader.reader._worker is None
            answered = plan_reader.reader.read(TEXT, ["main"], 60) == ANSWER
            plan_reader.reader.end()
            status = 0 if is_new and answered else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert plan_reader.reader.read(TEXT, ["main"], 60) == ANSWER
