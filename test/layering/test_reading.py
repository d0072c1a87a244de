"""What a function takes and does is asked of `dialects/reading.py`: nobody goes into its block for it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.layering.test_imports import ALLOWED

HOME = "dialects/reading.py"
# What speaks of functions by IREE's own bindings.
WORKER = "backends/worker"


def looks_inside(source: str) -> Iterator[int]:
    """Yields the lines of the program `source` that take arguments or operations of a function's first block."""
    if "blocks" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Attribute(
                value=ast.Subscript(value=ast.Attribute(attr="blocks")), attr="arguments" | "operations"
            ):
                yield node.lineno


def test_functions_are_read_in_one_place(repository: Path) -> None:
    """Catches a list of operations that does not survive rewriting, and a second way to ask for arguments."""
    paths = [path for folder in [*ALLOWED, "dovetail"] for path in (repository / folder).rglob("*.py")]
    found = [
        f"{name}:{line}: goes into a function's block; ask {HOME}"
        for path in sorted(paths)
        if (name := path.relative_to(repository).as_posix()) != HOME and not name.startswith(WORKER)
        for line in looks_inside(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("region.body.blocks[0].arguments", 1),
        ("[op for op in region.operation.regions[0].blocks[0].operations]", 1),
        ("with ir.InsertionPoint(made.body.blocks[0]):\n    pass", 0),
        ("arguments(region)", 0),
    ],
)
def test_looks_are_found(source: str, count: int) -> None:
    """Catches a check that finds nothing, or takes an insertion point for a look inside."""
    assert len(list(looks_inside(source))) == count
