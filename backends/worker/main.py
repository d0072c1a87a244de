"""The program of workers, and of what they are forked from: answers what is asked of texts.

Who asks is `backends/compiling/iree_worker.py`.

Its arguments are the number of a socket, through which workers are asked for, of their ends, and to end; and "edits" if
texts will be edited, "plans" if not. What is imported starts no thread that would be missed in a fork, and makes no
context of MLIR's. To each worker come, through a connection of its own, what is asked, as JSON, and a text; the answer
is facts, as JSON, and then bytes. All end with whoever holds the other ends, or when nobody asks for `IDLE_SECONDS`.
"""

import ctypes
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

IDLE_SECONDS = 30
_PR_SET_PDEATHSIG = 1
_DIALECTS = (
    *("arith", "builtin", "complex", "flow", "func", "hal", "iree_codegen", "iree_gpu", "iree_tensor_ext"),
    *("linalg", "llvm", "math", "nvvm", "tensor", "util"),
)
"""Of texts that are edited: the bindings import each when it is met, which takes longer than most edits."""
Task = Callable[[dict[str, Any], bytes], tuple[dict[str, Any], bytes]]


def main() -> None:
    from dovetail.backends.worker.blocks import cut_into_blocks
    from dovetail.backends.worker.configure import configure
    from dovetail.backends.worker.constant_terms import check as check_terms
    from dovetail.backends.worker.early_results import read_results
    from dovetail.backends.worker.finish import finish
    from dovetail.backends.worker.host_program import read_plans
    from dovetail.backends.worker.lanes_of_reductions import check as check_lanes
    from dovetail.backends.worker.wrap import wrap

    tasks: dict[str, Task] = {
        "plans": lambda asked, text: read_plans(text, asked["names"]),
        "wrap": lambda _, text: ({}, wrap(text)),
        "cut into blocks": lambda _, text: ({}, cut_into_blocks(text)),
        "read results": lambda _, text: ({}, read_results(text)),
        "configure": lambda asked, text: configure(text, dict(asked["plain"])),
        "check lanes": lambda _, text: ({}, check_lanes(text)),
        "check terms": lambda _, text: ({}, check_terms(text)),
        "finish": lambda _, text: ({}, finish(text)),
    }
    for dialect in _DIALECTS if sys.argv[2] == "edits" else ():
        import_module(f"iree.compiler.dialects.{dialect}")
    _fork_workers(socket.socket(fileno=int(sys.argv[1])), tasks)


def _fork_workers(asked: socket.socket, tasks: Mapping[str, Task]) -> None:
    """Answers each number: 0 by that of a new worker, one's own by how it ended, the negative one once it is killed."""
    request, running, ended = struct.Struct("q"), set[int](), dict[int, int]()
    asked.settimeout(IDLE_SECONDS)
    source = os.getpid()
    while True:
        try:
            data, files, _, _ = socket.recv_fds(asked, request.size, 2)
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
                os.dup2(files[1], sys.stderr.fileno())
                _answer(Connection(files[0]), tasks)
                return
            running.add(number)
            for file in files:
                os.close(file)
        elif number in running:
            running.discard(number)
            ended[number] = _status(number, 0) or 0
        elif -number in running:
            os.kill(-number, signal.SIGKILL)
        asked.sendall(request.pack(ended.get(number, number)))
    for worker in running:
        os.kill(worker, signal.SIGKILL)


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


def _answer(connection: Connection, tasks: Mapping[str, Task]) -> None:
    while connection.poll(IDLE_SECONDS):
        try:
            asked, text = json.loads(connection.recv_bytes()), connection.recv_bytes()
        except EOFError:
            return
        facts, data = tasks[asked["task"]](asked, text)
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
