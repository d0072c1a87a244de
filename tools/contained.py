"""The commands, each in a child process: what ends the child is one error of the command's, like any other.

MLIR's parser and passes are C++, where what nobody expected may end in a signal: 400,000 signs before a number are a
stack overflow, and so may bytecode be.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG, man 2 prctl


def opt() -> int:
    """`dovetail-opt`."""

    def work() -> int:
        from dovetail.tools.opt.command import main

        return main()

    return contained("dovetail-opt", work)


def run() -> int:
    """`dovetail-run`."""

    def work() -> int:
        from dovetail.tools.run.command import main

        return main()

    return contained("dovetail-run", work)


def compile_() -> int:
    """`dovetail-compile`."""

    def work() -> int:
        from dovetail.tools.compile import main

        return main()

    return contained("dovetail-compile", work)


def contained(command: str, work: Callable[[], int]) -> int:
    """The exit status of `work`, which a child process does; 1, after a message, if a signal ended it.

    Returns in both processes, the child's status in the child.
    """
    child = os.fork()
    if not child:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        return work()
    # The terminal sends its interrupt to both; whoever ends the command by its number means the child.
    before = [
        (signal.SIGINT, signal.signal(signal.SIGINT, signal.SIG_IGN)),
        (signal.SIGTERM, signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))),
    ]
    _, status = os.waitpid(child, 0)
    for number, handler in before:
        signal.signal(number, handler)
    if not os.WIFSIGNALED(status):
        return os.waitstatus_to_exitcode(status)
    name = signal.Signals(os.WTERMSIG(status)).name
    print(f"{command}: the input could not be processed, {name} ended the process that did", file=sys.stderr)
    return 1
