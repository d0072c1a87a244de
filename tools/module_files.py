"""Modules in files, as text or bytecode, and what a command says when one can't be read: shared by the commands."""

import sys
from pathlib import Path

BYTECODE_MAGIC = b"ML\xefR"
"""How a file of MLIR bytecode begins: https://mlir.llvm.org/docs/BytecodeFormat/"""


def read_source(path: str) -> str | bytes:
    """The text or the bytecode in the file at `path`; `-` is standard input.

    Raises:
        OSError, UnicodeDecodeError: for a file that can't be read, or holds neither.
    """
    raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    return raw if raw.startswith(BYTECODE_MAGIC) else raw.decode("utf-8")


def write_output(path: str, output: str | bytes) -> None:
    """Writes text or bytecode to the file at `path`; `-` is standard output."""
    raw = output if isinstance(output, bytes) else f"{output}\n".encode()
    if path != "-":
        Path(path).write_bytes(raw)
    elif isinstance(output, bytes):
        sys.stdout.buffer.write(raw)
    else:
        print(output)


def error_text(error: Exception, path: str) -> str:
    """What to tell the user about `error`, met while `path` was read or its module processed."""
    if isinstance(error, OSError):
        return f"{error.filename or path}: {error.strerror}"
    if isinstance(error, UnicodeDecodeError):
        return f"{path}: expected UTF-8 text, {error.reason} at byte {error.start}"
    # MLIR calls every text that it parses "-".
    return str(error).rstrip().replace('"-":', f'"{path}":')
