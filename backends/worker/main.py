"""The program of workers, and of what they are forked from, the source: answers what is asked of texts.

Who asks is `backends/compiling/iree_worker.py`.

Its stdin is a socket, through which forks are asked for, of their ends, and to end; its argument is "edits" if texts
will be edited, "plans" if not. What is imported starts no thread that would be missed in a fork, and makes no
context of MLIR's. To each worker come, through a connection of its own, what is asked, as JSON, and a text; the answer
is facts, as JSON, and then bytes. Other forks become commands (`commands.py`). All end with whoever holds the other
ends, or when nobody asks for `IDLE_SECONDS`.
"""

import contextlib
import ctypes
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

IDLE_SECONDS = 30
_PR_SET_PDEATHSIG = 1
_DIALECTS_OF_PLANS = ("arith", "builtin", "hal", "stream", "util")
_DIALECTS_OF_EDITS = (
    *("complex", "flow", "func", "iree_codegen", "iree_gpu", "iree_tensor_ext", "linalg", "llvm", "math", "nvvm"),
    "tensor",
)
"""Of texts that are edited besides: the bindings import each when it is met, which takes longer than most edits."""
Task = Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes]]


def main() -> None:
    # A program that ignores the signal hands that on, and then nobody is told how a fork ended.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    library = _load()
    for name in ("commands", "host_program", "ordered_commands", *(_EDITS if sys.argv[1] == "edits" else ())):
        _module(name)
    for dialect in (*_DIALECTS_OF_PLANS, *(_DIALECTS_OF_EDITS if sys.argv[1] == "edits" else ())):
        import_module(f"iree.compiler.dialects.{dialect}")
    gc.freeze()  # what forks share stays shared: collecting garbage writes to all that it looks at
    _fork(socket.socket(fileno=sys.stdin.fileno()), library)


def _load() -> Path:
    """Loads IREE's library, whose path this is, and its bindings.

    That is without numpy, half of the time: with it the bindings make attributes of arrays, for which nobody here asks.
    """
    sys.modules["numpy"] = None  # type: ignore[assignment]
    ir = import_module("iree.compiler.ir")
    del sys.modules["numpy"]
    (library,) = (Path(ir.__file__ or "").parent / "_mlir_libs").glob("libIREECompiler.*")
    return library


def _module(name: str) -> ModuleType:
    return import_module(f"dovetail.backends.worker.{name}")


_EDITS = ("blocks", "configure", "constant_terms", "early_results", "finish", "lanes_of_reductions", "parts", "wrap")
TASKS: Mapping[str, Task] = {
    "plans": lambda asked, text: _module("host_program").read_plans(text, asked["names"]),
    "wrap": lambda _, text: ({}, _module("wrap").wrap(text)),
    "write parts": lambda _, text: ({}, _module("parts").write_parts(text)),
    "cut into blocks": lambda _, text: ({}, _module("blocks").cut_into_blocks(text)),
    "read results": lambda _, text: ({}, _module("early_results").read_results(text)),
    "configure": lambda asked, text: _module("configure").configure(text, dict(asked["plain"])),
    "check lanes": lambda _, text: ({}, _module("lanes_of_reductions").check(text)),
    "check terms": lambda _, text: ({}, _module("constant_terms").check(text)),
    "order commands": lambda _, text: ({}, _module("ordered_commands").order_commands(text)),
    "finish": lambda _, text: ({}, _module("finish").finish(text)),
}
"""Imported when they are asked: of most regions only the plans are read."""


def _fork(asked: socket.socket, library: Path) -> None:
    """Answers each number: 0 by that of a new fork, one's own by how it ended, the negative one once it is killed.

    With 0 come the files of a worker, its connection and stderr; or of a command its connection, stdin, stdout and
    stderr.
    """
    request, running, ended = _module("agreed").REQUEST, set[int](), dict[int, int]()
    asked.settimeout(IDLE_SECONDS)
    source = os.getpid()
    while True:
        try:
            data, files, _, _ = socket.recv_fds(asked, request.size, 4)
        except TimeoutError:
            ended |= {each: status for each in running if (status := _status(each, os.WNOHANG)) is not None}
            running.difference_update(ended)
            if not running:
                return
            continue
        if not data:
            break
        (number,) = request.unpack(data)
        if files:
            number = os.fork()
            if not number:
                asked.close()
                _end_with(source)
                _serve(files, library)
                return
            os.setpgid(number, number)  # so that the linker which a compiler starts is killed with it
            running.add(number)
            ended.pop(number, None)
            for file in files:
                os.close(file)
        elif number in running:
            running.discard(number)
            ended[number] = _status(number, 0) or 0
        elif -number in running:
            running.discard(-number)
            _kill(-number)
            ended[-number] = _status(-number, 0) or 0
        asked.sendall(request.pack(ended.get(number, number)))
    for each in running:
        _kill(each)


def _kill(fork: int) -> None:
    """Ends a fork and what it started; macOS forbids that where all of them have ended."""
    with contextlib.suppress(PermissionError):
        os.killpg(fork, signal.SIGKILL)


def _serve(files: Sequence[int], library: Path) -> None:
    connection, *others = files
    if len(others) > 1:
        from dovetail.backends.worker.commands import become_command

        become_command(Connection(connection), others, library)
    os.dup2(others[0], sys.stderr.fileno())
    _answer(Connection(connection))


def _end_with(source: int) -> None:
    """Has this process killed when its source ends, on Linux: no one else could end it where it hangs."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != source:  # it ended before the line above
            sys.exit(1)


def _status(number: int, options: int) -> int | None:
    """How the worker of that number ended; None if it runs."""
    found, status = os.waitpid(number, options)
    return os.waitstatus_to_exitcode(status) if found else None


def _answer(connection: Connection) -> None:
    while connection.poll(IDLE_SECONDS):
        try:
            asked, text = json.loads(connection.recv_bytes()), connection.recv_bytes()
        except EOFError:
            return
        facts, data = TASKS[asked["task"]](asked, text)
        connection.send_bytes(json.dumps(facts).encode())
        connection.send_bytes(data)


def _know_siblings() -> None:
    """Makes this folder, and nothing else of Dovetail, known by its name: importing the package itself loads torch."""
    folders: dict[str, list[str]] = {"dovetail": [], "dovetail.backends": []}
    folders["dovetail.backends.worker"] = [str(Path(__file__).parent)]
    for name, path in folders.items():
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = path


if __name__ == "__main__":
    _know_siblings()
    main()
