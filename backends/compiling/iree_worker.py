"""The processes that use IREE, as many as are asked at once: forks of one that imported what they need."""

import atexit
import json
import os
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import Pipe
from typing import IO, Any, TypeVar

from dovetail.backends.compiling.forked_command import ForkedCommand
from dovetail.backends.compiling.source import Ended, Idle, Source, ends, last_line

T = TypeVar("T")

_OF_PLANS = ("order commands", "plans")
"""The tasks that need no edits' imports."""


class IreeWorker:
    """Asks workers, each one text after the other, since importing takes longer than most answers; and runs commands.

    They run `backends/worker/main.py`. They end with the process that started them, and by themselves when nobody has
    asked for a while.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._source: Source | None = None
        self._idle: list[_Worker] = []

    def start(self, edits: bool) -> None:
        """Starts the source, if none runs, without waiting until it has imported what reads plans, or `edits` texts.

        Raises:
            OSError: if it can't be started.
        """
        with self._lock:
            if self._source is not None and not self._source.runs():
                self._end_source()
            if self._source is None:
                self._source = Source(edits)

    def ask(self, asked: Mapping[str, Any], text: bytes, timeout: float) -> tuple[dict[str, Any], bytes]:
        """The answer to what is `asked` about `text` (`backends/worker/main.py`): facts, and bytes.

        Raises:
            OSError: if no worker can be started, or it ends before it answers; it ends after `timeout` seconds.
        """
        while True:
            worker = self._taken(edits=asked["task"] not in _OF_PLANS)
            try:
                answer = worker.ask(asked, text, timeout)
            except Idle:
                worker.end()
                continue
            except BaseException:  # half of an answer must not be taken for the next one's
                worker.end()
                raise
            with self._lock:
                self._idle.append(worker)
            return answer

    def command(
        self, command: Sequence[str], environment: dict[str, str], seconds: int, files: Sequence[IO[bytes]]
    ) -> ForkedCommand:
        """Runs `command`, for which see `ForkedCommand`.

        Raises:
            OSError: if no process can be started.
        """
        with self._lock:
            return self._forked(lambda source: ForkedCommand(source, command, environment, seconds, files), edits=False)

    def end(self) -> None:
        """Ends the workers that nobody waits for; the next text starts others."""
        with self._lock:
            for worker in self._idle:
                worker.end()
            self._idle.clear()
            self._end_source()

    def _end_source(self) -> None:
        if self._source is not None:
            self._source.end()
        self._source = None

    def _taken(self, edits: bool) -> "_Worker":
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.source.runs():
                    return worker
                worker.end()
            return self._forked(_Worker, edits)

    def _forked(self, fork: Callable[[Source], T], edits: bool) -> T:
        if self._source is not None:
            try:
                return fork(self._source)
            except Ended:  # one that was killed, too, says nothing of this text; a new one's end is told
                self._end_source()
        self._source = Source(edits)
        return fork(self._source)


class _Worker:
    def __init__(self, source: Source) -> None:
        self.source = source
        self._connection, theirs = Pipe()
        ends.update((self._connection, theirs))
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        with theirs:
            self.number = source.fork([theirs.fileno(), self._messages.fileno()])

    def ask(self, asked: Mapping[str, Any], text: bytes, timeout: float) -> tuple[dict[str, Any], bytes]:
        bound = threading.Timer(timeout, self.source.kill, [self.number])
        bound.start()
        try:
            self._connection.send_bytes(json.dumps(asked).encode())
            self._connection.send_bytes(text)
            return json.loads(self._connection.recv_bytes()), self._connection.recv_bytes()
        except (OSError, EOFError) as error:
            status = self.source.status(self.number)
            if status == 0:
                raise Idle("it had ended by itself") from error
            raise OSError(f"exit status {status}, {last_line(self._messages)}") from error
        finally:
            bound.cancel()

    def end(self) -> None:
        self.source.kill(self.number)
        self._connection.close()
        self._messages.close()


def _start_anew_in_forked_child() -> None:
    global worker
    for each in list(ends):
        each.close()
    _abandoned.append(worker)  # to destroy it would end the parent's workers
    worker = IreeWorker()


worker = IreeWorker()
_abandoned: list[IreeWorker] = []
os.register_at_fork(after_in_child=_start_anew_in_forked_child)
atexit.register(lambda: worker.end())
