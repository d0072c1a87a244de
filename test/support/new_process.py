"""Programs in processes that know nothing of Dovetail yet: forks of one that has imported PyTorch, and no more.

Importing PyTorch anew takes longer than most of these programs.
"""

import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

SECONDS = 600
"""After which a program is ended: far more than the slowest one takes on a busy machine."""


def run_python(program: str, *arguments: Any, seconds: int = SECONDS) -> CompletedProcess[str]:
    """What `python -c program arguments` ends with and writes, in this process's environment.

    Raises:
        TimeoutError: if it does not end in so many `seconds`, with what it wrote.
    """
    server, command = _server(), ["-c", *map(str, arguments)]
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("stdout", "stderr")]
        asked = [program, command, dict(os.environ), list(map(str, streams)), seconds]
        print(json.dumps(asked), file=server.stdin, flush=True)
        status = int(server.stdout.readline())
        written = [each.read_text() for each in streams]
    if status == -signal.SIGALRM:
        raise TimeoutError("\n".join([f"the program did not end in {seconds} s:", program, *written]))
    return CompletedProcess(command, status, *written)


@functools.cache
def _server() -> subprocess.Popen[str]:
    """The process that forks; it ends with this one, whose end closes its input."""
    return subprocess.Popen([sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _serve() -> None:
    for name in ("torch._dynamo", "torch._functorch.aot_autograd"):
        import_module(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _run(*json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _run(program: str, command: list[str], environment: dict[str, str], streams: list[str], seconds: int) -> None:
    """Ends the process at once: to tear down what PyTorch has made takes a second."""
    signal.alarm(seconds)
    for number, path in enumerate((os.devnull, *streams)):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = command
    status = 0
    try:
        exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
    except SystemExit as ended:
        status = ended.code or 0
        if isinstance(status, str):
            print(status, file=sys.stderr)
            status = 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve()
