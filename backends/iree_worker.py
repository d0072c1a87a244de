"""The worker process that uses IREE's bindings: started when first needed, asked again while it lives."""

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parent / "worker" / "main.py"


class IreeWorker:
    """Asks `worker/main.py`, one text after the other: starting it takes longer than most answers.

    The worker ends with the process that started it, and by itself when nobody has asked for a while.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._worker: _Worker | None = None

    def ask(self, asked: Mapping[str, Any], text: bytes, timeout: float) -> tuple[dict[str, Any], bytes]:
        """The answer to what is `asked` about `text` (`worker/main.py`): facts, and bytes.

        Raises:
            OSError: if the worker can't be started, or ends before it answers; it ends after `timeout` seconds.
        """
        with self._lock:
            try:
                return self._answer(asked, text, timeout)
            except _Idle:
                return self._answer(asked, text, timeout)

    def end(self) -> None:
        """Ends the worker; the next text starts another one."""
        with self._lock:
            self._drop()

    def _answer(self, asked: Mapping[str, Any], text: bytes, timeout: float) -> tuple[dict[str, Any], bytes]:
        if self._worker is None:
            self._worker = _Worker()
        try:
            return self._worker.ask(asked, text, timeout)
        except BaseException:  # half of an answer must not be taken for the next one's
            self._drop()
            raise

    def _drop(self) -> None:
        if self._worker is not None:
            self._worker.end()
            self._worker = None


class _Idle(OSError):
    """The worker had ended by itself, since nobody had asked for a while."""


class _Worker:
    def __init__(self) -> None:
        self._connection, theirs = Pipe()
        # A file, since a pipe that nobody reads fills.
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        with theirs:
            # Isolated from the working directory and the script's folder, whose names could hide others.
            command = [sys.executable, "-P", str(SCRIPT), str(theirs.fileno())]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stderr=self._messages,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for whoever asks
            )

    def ask(self, asked: Mapping[str, Any], text: bytes, timeout: float) -> tuple[dict[str, Any], bytes]:
        bound = threading.Timer(timeout, self._process.kill)
        bound.start()
        try:
            self._connection.send_bytes(json.dumps(asked).encode())
            self._connection.send_bytes(text)
            return json.loads(self._connection.recv_bytes()), self._connection.recv_bytes()
        except (OSError, EOFError) as error:
            status = self._process.wait()
            if status == 0:
                raise _Idle from error
            self._messages.seek(0)
            last = self._messages.read().decode(errors="replace").strip().rpartition("\n")[2] or "no message"
            raise OSError(f"exit status {status}, {last}") from error
        finally:
            bound.cancel()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._connection.close()
        self._messages.close()


def _start_anew_in_forked_child() -> None:
    global worker
    _abandoned.append(worker)  # to destroy it would end the parent's worker
    worker = IreeWorker()


worker = IreeWorker()
_abandoned: list[IreeWorker] = []
os.register_at_fork(after_in_child=_start_anew_in_forked_child)
atexit.register(lambda: worker.end())
