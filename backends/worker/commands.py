"""Has a fork of the source become a command, bounded in CPU time.

IREE's executables do nothing but call a library that the source has loaded. So a fork calls it, which spares each run
the start of Python to bound it, of a process, and of a library of 300 MiB: two thirds of what is not passes.
"""

import ctypes
import json
import os
import resource
import signal
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

from dovetail.backends.worker.agreed import CANNOT_START

_CALLED = {"iree-compile": "ireeCompilerRunMain", "iree-opt": "ireeOptRunMain"}
"""What IREE's executables call, and all that they do: functions of the library beside them."""

_OTHER_IN_PYTHON = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)


def become_command(connection: Connection, files: Sequence[int], library: Path) -> NoReturn:
    """Becomes the command that `connection` tells, which stays open as long as that runs.

    Args:
        connection: where `backends/compiling/forked_command.py` asks, in JSON: `command`, its executable's path first;
            `environment`; `seconds` of CPU time.
        files: what are stdin, stdout and stderr.
        library: IREE's, which this process has loaded.
    """
    asked = json.loads(connection.recv_bytes())
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    for number in _OTHER_IN_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(asked["environment"])
    _bound(asked["seconds"])
    command = asked["command"]
    executable = Path(command[0])
    if executable.parent == library.parent and executable.name in _CALLED:
        arguments = (ctypes.c_char_p * (len(command) + 1))(*map(os.fsencode, command))
        status = getattr(ctypes.CDLL(str(library)), _CALLED[executable.name])(len(command), arguments)
        ctypes.CDLL(None).exit(status)  # as after `main`: what is left in the library's buffers is written
    os.set_inheritable(connection.fileno(), True)
    try:
        os.execv(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(CANNOT_START)


def _bound(seconds: int) -> None:
    """Limits the CPU time of this process; a limit of the user's that is lower stays."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    limit = seconds if most == resource.RLIM_INFINITY else min(seconds, most)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
