"""What is mutated: the modules of the tests, those of captured functions at every stage, and an artifact."""

import io
import re
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from torch_mlir import ir

from dovetail.dialects.context import make_context, parse_module
from dovetail.errors import DovetailError
from dovetail.tools.fuzz_texts.captured import write_modules
from dovetail.tools.opt.command_line import SEPARATOR

_LONGEST = 25_000  # characters; a longer module shows no more and takes longer


@dataclass(frozen=True)
class Corpus:
    """Valid modules as text, some of them as bytecode, and an artifact."""

    texts: tuple[str, ...]
    bytecodes: tuple[bytes, ...]
    artifact: bytes


def read_corpus(tests: Path, folder: Path) -> Corpus:
    """Modules in the files below `tests`, and what `write_modules` writes into `folder`, an empty one.

    That works in a fork of its own, since this process is forked later, and must have no threads.
    """
    writer = get_context("fork").Process(target=write_modules, args=(folder,))
    writer.start()
    writer.join()
    if writer.exitcode:
        raise RuntimeError(f"compiling the functions that are mutated ended with {writer.exitcode}")
    stages = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("graph_*/*.mlir"))]
    files = [path.read_text(encoding="utf-8") for path in sorted(tests.rglob("*.mlir"))]
    chunks = [chunk for text in files for chunk in re.split(rf"^{SEPARATOR}.*\n", text, flags=re.MULTILINE)]
    context = make_context()
    candidates = [text for text in dict.fromkeys([*stages, *chunks]) if len(text) <= _LONGEST]
    texts = tuple(text for text in candidates if _is_valid(text, context))
    return Corpus(texts, tuple(map(_bytecode, texts[:5])), (folder / "artifact").read_bytes())


def _is_valid(text: str, context: ir.Context) -> bool:
    try:
        parse_module(text, context)
    except (ir.MLIRError, DovetailError, ValueError):
        return False
    return True


def _bytecode(text: str) -> bytes:
    buffer = io.BytesIO()
    parse_module(text, make_context()).operation.write_bytecode(buffer)
    return buffer.getvalue()
