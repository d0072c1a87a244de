"""The processes that use IREE's bindings, as many as are asked at once: forks of one that imported what they need."""

import atexit
import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

SCRIPT = Path(__file__).parents[1] / "worker" / "main.py"
_REQUEST = struct.Struct("q")
"""To the source: 0 for a worker, the number of one that ended, or the negative one of one that is to end.

It answers with the number, or with the status that the worker ended with, 0 while it runs.
"""

_LONGEST_START = 60
"""Seconds that importing may take."""


class IreeWorker:
    """Asks workers, each one text after the other: importing takes longer than most answers.

    They run `backends/worker/main.py`. They end with the process that started them, and by themselves when nobody has
    asked for a while.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._source: _Source | None = None
        self._idle: list[_Worker] = []

    def start(self) -> None:
        """Starts what workers that edit are forked from, without waiting until it has imported all that they need.

        Raises:
            OSError: if it can't be started.
        """
        with self._lock:
            if self._source is not None and not self._source.runs():
                self._end_source()
            if self._source is None:
                self._source = _Source(edits=True)

    def ask(self, asked: Mapping[str, Any], text: bytes, timeout: float) -> tuple[dict[str, Any], bytes]:
        """The answer to what is `asked` about `text` (`backends/worker/main.py`): facts, and bytes.

        Raises:
            OSError: if no worker can be started, or it ends before it answers; it ends after `timeout` seconds.
        """
        while True:
            worker = self._taken(edits=asked["task"] != "plans")
            try:
                answer = worker.ask(asked, text, timeout)
            except _Idle:
                worker.end()
                continue
            except BaseException:  # half of an answer must not be taken for the next one's
                worker.end()
                raise
            with self._lock:
                self._idle.append(worker)
            return answer

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
            if self._source is not None:
                try:
                    return _Worker(self._source)
                except _Ended:  # one that was killed, too, says nothing of this text; a new one's end is told
                    self._end_source()
            self._source = _Source(edits)
            return _Worker(self._source)


class _Ended(OSError):
    """The source had ended, in whatever way."""


class _Idle(_Ended):
    """A process had ended by itself, since nobody had asked for a while."""


class _Source:
    """The process that workers are forked from: for such that edit texts, or for such that only read plans."""

    def __init__(self, edits: bool) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(_LONGEST_START)
        # A file, since a pipe that nobody reads fills.
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        with theirs:
            # Isolated from the working directory and the script's folder, whose names could hide others.
            command = [sys.executable, "-P", str(SCRIPT), str(theirs.fileno()), "edits" if edits else "plans"]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stderr=self._messages,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for whoever asks
            )

    def runs(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def fork(self, connection: Connection, messages: int) -> int:
        """The number of a new worker, which answers on `connection` and writes messages to a file."""
        return self._asked(0, [connection.fileno(), messages])

    def status(self, number: int) -> int:
        """How the worker of that number ended; waits until it has."""
        return self._asked(number, [])

    def kill(self, number: int) -> None:
        """Ends the worker of that number, if it has not ended."""
        with contextlib.suppress(OSError):  # nor does the source outlive its workers, or the other way round
            self._asked(-number, [])

    def end(self) -> None:
        """Ends the process, and with it the workers."""
        self._socket.close()
        self._process.wait()
        with self._lock:
            self._messages.close()

    def _asked(self, request: int, files: list[int]) -> int:
        with self._lock:
            try:
                if files:
                    socket.send_fds(self._socket, [_REQUEST.pack(request)], files)
                else:
                    self._socket.sendall(_REQUEST.pack(request))
                answer = self._socket.recv(_REQUEST.size)
            except TimeoutError:
                self._process.kill()
                answer = b""
            except OSError:
                answer = b""
            if answer:
                return _REQUEST.unpack(answer)[0]
            status = self._process.wait()
            if status == 0:
                raise _Idle
            raise _Ended(f"exit status {status}, {_last_line(self._messages)}")


class _Worker:
    def __init__(self, source: _Source) -> None:
        self.source = source
        self._connection, theirs = Pipe()
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        with theirs:
            self.number = source.fork(theirs, self._messages.fileno())

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
                raise _Idle from error
            raise OSError(f"exit status {status}, {_last_line(self._messages)}") from error
        finally:
            bound.cancel()

    def end(self) -> None:
        self.source.kill(self.number)
        self._connection.close()
        self._messages.close()


def _last_line(messages: IO[bytes]) -> str:
    if messages.closed:  # the source was ended after it had ended itself, and one of its workers asks how
        return "no message"
    messages.seek(0)
    return messages.read().decode(errors="replace").strip().rpartition("\n")[2] or "no message"


def _start_anew_in_forked_child() -> None:
    global worker
    _abandoned.append(worker)  # to destroy it would end the parent's workers
    worker = IreeWorker()


worker = IreeWorker()
_abandoned: list[IreeWorker] = []
os.register_at_fork(after_in_child=_start_anew_in_forked_child)
atexit.register(lambda: worker.end())
