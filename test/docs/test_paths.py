"""Files of programs that documents, docstrings, comments and messages name are there."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.layering.test_attributes import docstrings
from test.layering.test_imports import FOLDERS

PATH = re.compile(r"(?<![\w/.<>{}*-])(?:[\w.-]+/)+[\w-]+\.py\b")
"""A file in a folder, as it is written from the root of the source tree on; one with a `<placeholder>` is none."""

ELSEWHERE = {
    "torch/utils/flop_counter.py": "PyTorch's",
}
"""What else is named, and whose it is."""


def sentences(source: str) -> Iterator[tuple[int, str]]:
    """Yields the docstrings and the comments of the program `source`, with their first lines."""
    for node in docstrings(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def named(repository: Path) -> Iterator[tuple[str, str]]:
    """Yields (where, path) for each path that a document or a program names.

    In programs of the packages, strings count too: they may be reasons and messages. Those of tests are examples.
    """
    documents = [*repository.glob("*.md"), *(repository / "docs").rglob("*.md")]
    packages = [path for folder in FOLDERS for path in (repository / folder).rglob("*.py")]
    others = [path for folder in ("test", "benchmark") for path in (repository / folder).rglob("*.py")]
    for file in sorted([*documents, *packages, *others]):
        text = file.read_text(encoding="utf-8")
        if not PATH.search(text):
            continue
        parts = sentences(text) if file in others else enumerate(text.splitlines(), 1)
        for line, part in parts:
            for found in PATH.findall(part):
                yield f"{file.relative_to(repository)}:{line}", found


def test_named_files_are_there(repository: Path) -> None:
    """Catches a file that has moved, and is still sent to under its old name."""
    found = list(named(repository))
    stale = [
        f"{where}: no file {path}"
        for where, path in found
        if path not in ELSEWHERE and not (repository / path).is_file()
    ]
    assert not stale, "\n" + "\n".join(stale)
    idle = ELSEWHERE.keys() - {path for _, path in found}
    assert not idle, f"nothing names {idle} any more"


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("see `passes/base.py` and dialects/reading.py:", ["passes/base.py", "dialects/reading.py"]),
        ("its row in dialects/torch_facts/rows/opaque.py claims", ["dialects/torch_facts/rows/opaque.py"]),
        ("passes/<phase>/<name>.py, test_*.py, base.py", []),
    ],
)
def test_paths_are_found(text: str, paths: list[str]) -> None:
    """Catches a form in which paths are overlooked, or what is none taken for one."""
    assert PATH.findall(text) == paths


def test_sentences_are_found() -> None:
    """Catches a comment or a docstring that nobody looks at."""
    source = '"""One."""\nx = "two"  # three\ndef f():\n    """Four."""\n'
    assert {text for _, text in sentences(source)} == {"One.", "# three", "Four."}
