"""Modules in files, as text or bytecode, and what a command says when one can't be read: shared by the commands."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dovetail.errors import ArtifactError

BYTECODE_MAGIC = b"ML\xefR"
"""How a file of MLIR bytecode begins: https://mlir.llvm.org/docs/BytecodeFormat/"""

ARCHIVE_MAGIC = b"PK\x03\x04"
"""How a zip archive, and so an artifact, begins, be it whole or not: section 4.3.7 of PKWARE's APPNOTE.TXT."""


def is_archive(path: str) -> bool:
    """Whether the file at `path` begins as artifacts do, and modules don't; standard input (`-`) is none.

    Raises:
        OSError: for a file that can't be read.
    """
    if path == "-":
        return False
    with Path(path).open("rb") as file:
        return file.read(len(ARCHIVE_MAGIC)) == ARCHIVE_MAGIC


def read_source(path: str) -> str | bytes:
    """The text or the bytecode in the file at `path`; `-` is standard input.

    Raises:
        OSError, UnicodeDecodeError: for a file that can't be read, or holds neither.
        ArtifactError: for a zip archive, as artifacts are.
    """
    raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    if raw.startswith(ARCHIVE_MAGIC):
        file = "ARTIFACT" if path == "-" else path
        raise ArtifactError(
            f"{path}: expected a module, got an archive; if it is an artifact, its module is what"
            f" `unzip -p {file} module.mlir` prints"
        )
    return raw if raw.startswith(BYTECODE_MAGIC) else raw.decode("utf-8")


def write_output(path: str, output: str | bytes) -> None:
    """Writes text or bytecode to the file at `path`, `-` being standard output; raises as `writing` does."""
    raw = output if isinstance(output, bytes) else f"{output}\n".encode()
    with writing(path):
        if path != "-":
            Path(path).write_bytes(raw)
        elif isinstance(output, bytes):
            sys.stdout.buffer.write(raw)
        else:
            print(output)


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Around what writes to `path`, `-` being standard output; whoever reads that may stop early, as `head` does.

    Raises:
        OSError: if it can't be written, naming it: the error of a full disk does not.
    """
    try:
        yield
        if path == "-":
            sys.stdout.flush()
    except OSError as error:
        if path == "-":
            # Python writes what is left in the buffer again when it ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if path != "-" or not isinstance(error, BrokenPipeError):
            name = "standard output" if path == "-" else path
            raise OSError(error.errno, error.strerror or str(error), name) from error


def error_text(error: Exception, path: str) -> str:
    """What to tell the user about `error`, met while `path` was read or its module processed."""
    if isinstance(error, OSError):
        return printable(f"{error.filename or path}: {error.strerror}")
    if isinstance(error, UnicodeDecodeError):
        return printable(f"{path}: expected UTF-8 text, {error.reason} at byte {error.start}")
    # MLIR calls every text that it parses "-".
    return printable(str(error).rstrip().replace('"-":', f'"{path}":'))


def printable(text: str) -> str:
    """`text` with escapes, as in Python's literals, for what a terminal would obey: names may be any text."""
    return "".join(each if each.isprintable() or each in "\n\t" else repr(each)[1:-1] for each in text)
