"""Tells whether a process did what only a module's text asked for. Installed in a process, it stays."""

import os
import sys
from collections.abc import Callable
from types import CodeType
from typing import Any

from dovetail.backends.compiling.source import SCRIPT
from dovetail.backends.cuda.assembler import assembler
from dovetail.tools.fuzz_texts.payloads import CANARY

_STARTS = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn", "pickle.find_class", "socket.connect")


def watch(report: Callable[[str], None]) -> None:
    """Has `report` called with what the process does, before it does it, that no module may make it do.

    That is: running code that has the canary's name for a name or is its file's, importing it, opening it or any file
    outside of the folder for temporary files for writing, and starting any process but what IREE's compiler, the
    reader of its plans and NVIDIA's assembler are forked from.
    """
    source = [sys.executable, "-P", str(SCRIPT)]
    writable = (os.environ["TMPDIR"], os.environ["DOVETAIL_CACHE_DIR"], os.devnull)

    def is_ours(command: list) -> bool:
        return command[:3] == source or command == [assembler(), "--version"]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "exec" and isinstance(arguments[0], CodeType) and _names_canary(arguments[0]):
            report(f"ran code of the module's text: {arguments[0].co_filename!r}")
        elif event == "import" and CANARY in str(arguments[0]):
            report(f"imported {arguments[0]!r}")
        elif event == "open" and _writes(arguments) and not str(arguments[0]).startswith(writable):
            report(f"opened {arguments[0]!r} for writing")
        elif event == "subprocess.Popen" and not is_ours(arguments[1]):
            report(f"started {arguments[1]!r}")
        elif event in _STARTS:
            report(f"did {event} {arguments!r}")

    sys.addaudithook(hook)


def _names_canary(code: CodeType) -> bool:
    """Whether `code` is of the canary's file, or uses its name other than within a string."""
    names = (code.co_filename, code.co_name, *code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars)
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return any(CANARY in name for name in names) or _opens_canary(code) or any(map(_names_canary, inner))


def _opens_canary(code: CodeType) -> bool:
    """Whether `code` calls what takes the canary's name as a string."""
    told = any(isinstance(each, str) and CANARY in each for each in code.co_consts)
    return told and bool({"open", "exec", "eval", "__import__", "system"}.intersection(code.co_names))


def _writes(arguments: tuple[Any, ...]) -> bool:
    path, mode, flags = arguments
    if isinstance(path, int):
        return False
    return any(each in (mode or "") for each in "wax+") or bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
