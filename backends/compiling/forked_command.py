"""A command that a fork of the source becomes: IREE's compiler, of which it needs no start, or what is executed."""

import contextlib
import json
from collections.abc import Sequence
from multiprocessing import Pipe
from typing import IO

from dovetail.backends.compiling.source import Source, ends


class ForkedCommand:
    """Runs from now on, in `environment`, for at most `seconds` of CPU time, and not longer than `source`.

    Args:
        source: what forks.
        command: an executable's path, and its arguments.
        files: stdin, stdout and stderr.

    Raises:
        Ended: if the source had ended.
    """

    def __init__(
        self,
        source: Source,
        command: Sequence[str],
        environment: dict[str, str],
        seconds: int,
        files: Sequence[IO[bytes]],
    ) -> None:
        self._source = source
        self._connection, theirs = Pipe()
        ends.update((self._connection, theirs))
        with theirs:
            self._number = source.fork([theirs.fileno(), *(file.fileno() for file in files)])
        asked = {"command": list(command), "environment": environment, "seconds": seconds}
        with contextlib.suppress(OSError):  # it was killed already, which `status` tells
            self._connection.send_bytes(json.dumps(asked).encode())

    def status(self, timeout: float) -> int | None:
        """How it ended, negative for a signal; None if it runs after that many seconds, or what has its files.

        Raises:
            Ended: if the source ended, and so did this.
        """
        return self._source.status(self._number) if self._connection.poll(timeout) else None

    def kill(self) -> None:
        """Ends it and what it started."""
        self._source.kill(self._number)

    def end(self) -> None:
        """Ends it, if it has not ended, and forgets it."""
        self.kill()
        self._connection.close()
