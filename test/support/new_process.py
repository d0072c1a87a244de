"""Programs in processes that know nothing of Dovetail yet: forks of one that has imported PyTorch, and no more.

Importing PyTorch anew takes longer than most of these programs.
"""

import multiprocessing
import os
import sys
import tempfile
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(["torch._dynamo", "torch._functorch.aot_autograd"])


def run_python(program: str, *arguments: Any) -> CompletedProcess[str]:
    """What `python -c program arguments` ends with and writes, in this process's environment."""
    with tempfile.TemporaryDirectory() as folder:
        streams = [Path(folder, name) for name in ("stdout", "stderr")]
        command = ["-c", *map(str, arguments)]
        process = _SERVER.Process(target=_run, args=(program, command, dict(os.environ), streams))
        process.start()
        process.join()
        assert process.exitcode is not None
        return CompletedProcess(command, process.exitcode, *(each.read_text() for each in streams))


def _run(program: str, command: list[str], environment: dict[str, str], streams: list[Path]) -> None:
    assert not [name for name in sys.modules if name.partition(".")[0] == "dovetail"]
    for number, path in enumerate(streams, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = command
    exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
