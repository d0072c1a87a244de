"""Runs console scripts in forks of one process, which has imported what they need; lit.cfg.py starts three of it.

A command that starts as a process of its own spends most of its time on imports: half a second, three where PyTorch is
among them. In its place the tests start `command_client.c`, whose arguments, directory, environment and standard
streams the server's fork takes over. Nothing else is shared: what a command changes, its fork alone sees.
"""

import contextlib
import functools
import gc
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from itertools import chain
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path

from dovetail.tools import contained

# What is imported before the fork, by the word of a command line that calls for it. Of DTensor's package, torch.testing
# asks at its first comparison.
_IMPORTS = {
    "dovetail-opt": ["dovetail.tools.opt.command"],
    "--run-check": ["dovetail.runtime.reference.executor", "torch.distributed.tensor"],
    "dovetail-compile": ["dovetail.tools.compile"],
    "dovetail-run": ["dovetail.tools.run.command"],
}
_MAX_REQUEST = 1 << 17  # bytes, more than a socket takes at once


def start(environment: dict[str, str]) -> str:
    """Starts a server, which ends with this process; returns what a command line has before the command's name.

    Args:
        environment: the server's. A command has its client's, but for what libraries read when they are imported.
    """
    folder = tempfile.mkdtemp(prefix="dovetail-")
    path, client = f"{folder}/commands", f"{folder}/client"
    subprocess.run(["cc", "-O1", "-o", client, Path(__file__).with_name("command_client.c")], check=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen(128)
        arguments = [sys.executable, "-m", "dovetail.tools.command_server", str(listener.fileno()), str(os.getpid())]
        # NumPy's OpenBLAS would start threads when it is imported.
        environment = environment | {"OPENBLAS_NUM_THREADS": "1"}
        # In a session of its own, the terminal's interrupt does not reach it.
        subprocess.Popen(arguments, env=environment, pass_fds=[listener.fileno()], start_new_session=True)
    return f"{client} {path}"


@dataclass(frozen=True)
class Request:
    """What a client asks for."""

    directory: str
    arguments: list[str]
    environment: dict[str, str]

    @classmethod
    def read(cls, message: bytes) -> "Request":
        """Of what `command_client.c` sends."""
        count, directory, *words = map(os.fsdecode, message.split(b"\0")[:-1])
        arguments, variables = words[: int(count)], words[int(count) :]
        pairs = (each.partition("=") for each in variables)
        # Python knows no others: a program may be started with words that are no variables.
        return cls(directory, arguments, {name: value for name, equals, value in pairs if name and equals})


@dataclass(frozen=True)
class _Running:
    """A command, and the client that waits for its exit status."""

    process: ForkProcess
    client: socket.socket

    def is_over(self, ready: list) -> bool:
        """Whether the command has ended; if its client has, as when a test runs out of time, it is killed."""
        if self.client in ready:
            self.process.kill()
        return self.client in ready or self.process.sentinel in ready

    def answer(self) -> None:
        """Sends the exit status to the client, if there still is one."""
        self.process.join()
        with self.client, contextlib.suppress(BrokenPipeError):
            self.client.send(str(self.process.exitcode).encode())


def serve(listener: socket.socket, owner: int) -> None:
    """Runs what the listener's clients ask for, until the process ends that `owner` is a file descriptor of (pidfd)."""
    running: list[_Running] = []
    while True:
        ends = [end for each in running for end in (each.process.sentinel, each.client)]
        ready = wait([owner, listener, *ends])
        if owner in ready:
            break
        for each in [each for each in running if each.is_over(ready)]:
            each.answer()
            running.remove(each)
        if listener in ready:
            client, _ = listener.accept()
            running += [_Running(process, client) for process in _started(listener, client)]
    for each in running:
        each.process.kill()


def _started(listener: socket.socket, client: socket.socket) -> list[ForkProcess]:
    """The command that the client asks for, running; none if the client was killed before it could ask."""
    message, streams, _, _ = socket.recv_fds(client, _MAX_REQUEST, 3)
    if not message:
        return []
    request = Request.read(message)
    command = _command(request.arguments[0])
    for module in chain.from_iterable(_IMPORTS.get(word, ()) for word in request.arguments):
        import_module(module)
    if request.arguments[0] in _IMPORTS:
        _define_dialects()
    if len(os.listdir("/proc/self/task")) > 1:
        raise RuntimeError("an import has started a thread, which a fork would miss")
    gc.freeze()  # a collection in the fork would write to each page of what was imported, which copies it
    process = ForkProcess(target=_become, args=(command, request, streams, listener))
    process.start()
    for stream in streams:
        os.close(stream)
    return [process]


@functools.cache
def _command(name: str) -> Callable[[], int | None]:
    """The console script of this name; looked up once, since that reads the files of all installed packages."""
    [script] = entry_points(group="console_scripts", name=name)
    return script.load()


@functools.cache
def _define_dialects() -> None:
    """Makes a context, once, so that no command defines again what contexts share. It has no threads."""
    from dovetail.dialects.context import make_context

    make_context()


def _become(command: Callable[[], int | None], request: Request, streams: list[int], listener: socket.socket) -> None:
    listener.close()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # New files for the new streams: the old ones remember whether theirs could seek.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)
    os.chdir(request.directory)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.argv = request.arguments
    contained.contained = _work_here  # type: ignore[assignment]
    sys.exit(command())


def _work_here(_: str, work: Callable[[], int]) -> int:
    """A signal ends the fork, and by that the client, which the server tells: no other process need see it."""
    return work()


def _opened(process: int) -> int | None:
    """A file descriptor of `process` (pidfd); None where it has ended, as an owner may before its server has begun."""
    try:
        return os.pidfd_open(process)
    except ProcessLookupError:
        return None


def main() -> None:
    """Serves the listening socket and the owner that `start` names, and removes the socket."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    try:
        owner = _opened(int(sys.argv[2]))
        if owner is not None:
            serve(listener, owner)
    finally:
        shutil.rmtree(Path(listener.getsockname()).parent)
        gc.unfreeze()  # or nanobind reports all that is left as leaks


if __name__ == "__main__":
    main()
