"""A script that becomes the command in its arguments, bounded: `bounded.py PARENT SECONDS COMMAND...`.

The command ends after that many seconds of CPU time and, on Linux, when the process that started it, PARENT, ends:
nobody waits for it then. Limits can be set from outside on Linux only, and `preexec_fn` would run the hooks of a fork.
"""

import ctypes
import os
import resource
import sys

CANNOT_START = 127
"""The exit status if the command can't be started; the reason is on stderr."""

_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
"""Of Linux; importing `signal` would take a third of this script's time."""


def main(parent: int, seconds: int, command: list[str]) -> None:
    """Becomes `command`."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    limit = seconds if most == resource.RLIM_INFINITY else min(seconds, most)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL)
        if os.getppid() != parent:  # it ended before the line above
            sys.exit(CANNOT_START)
    try:
        os.execv(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        sys.exit(CANNOT_START)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
