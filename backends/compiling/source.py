"""The process that those which use IREE's library are forked from, which has loaded it and imported what they need."""

import contextlib
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from dovetail.backends.worker.agreed import REQUEST

SCRIPT = Path(__file__).parents[1] / "worker" / "main.py"

_LONGEST_START = 60
"""Seconds that importing may take."""

ends: weakref.WeakSet = weakref.WeakSet()
"""Ends of connections to the source and its forks, for a fork of this process to close: what it held would not end."""


class Ended(OSError):
    """The source had ended, in whatever way."""


class Idle(Ended):
    """A process had ended by itself, since nobody had asked for a while."""


class Source:
    """Imports all that workers which edit texts need, or only what those need which read plans."""

    def __init__(self, edits: bool) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        ends.update((self._socket, theirs))
        self._socket.settimeout(_LONGEST_START)
        # A file, since a pipe that nobody reads fills.
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (open as long as the process)
        with theirs:
            # Isolated from the working directory and the script's folder, whose names could hide others.
            # The program's streams may be closed, and then others of its files have their numbers: all three are given.
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(SCRIPT), "edits" if edits else "plans"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=self._messages,
                start_new_session=True,  # Ctrl-C is for whoever asks
            )

    def runs(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def fork(self, files: Sequence[int]) -> int:
        """The number of a new worker or command, which has these files: see `backends/worker/main.py`."""
        return self._asked(0, files)

    def status(self, number: int) -> int:
        """How the fork of that number ended, negative for a signal; waits until it has."""
        return self._asked(number, [])

    def kill(self, number: int) -> None:
        """Ends the fork of that number, if it has not ended, and what it started."""
        with contextlib.suppress(OSError):  # nor does the source outlive its forks, or the other way round
            self._asked(-number, [])

    def end(self) -> None:
        """Ends the process, and with it its forks."""
        self._socket.close()
        self._process.wait()
        with self._lock:
            self._messages.close()

    def _asked(self, request: int, files: Sequence[int]) -> int:
        with self._lock:
            try:
                if files:
                    socket.send_fds(self._socket, [REQUEST.pack(request)], files)
                else:
                    self._socket.sendall(REQUEST.pack(request))
                answer = self._socket.recv(REQUEST.size)
            except TimeoutError:
                self._process.kill()
                answer = b""
            except OSError:
                answer = b""
            except BaseException:  # such as Ctrl-C: the answer, when it comes, would be taken for that of the next
                self._process.kill()
                self._process.wait()
                raise
            if answer:
                return REQUEST.unpack(answer)[0]
            status = self._process.wait()
            if status == 0:
                raise Idle("it had ended by itself")
            raise Ended(f"exit status {status}, {last_line(self._messages)}")


def last_line(messages: IO[bytes]) -> str:
    """The last of `messages`, or that there is none."""
    if messages.closed:  # the source was ended after it had ended itself, and one of its workers asks how
        return "no message"
    messages.seek(0)
    return messages.read().decode(errors="replace").strip().rpartition("\n")[2] or "no message"
