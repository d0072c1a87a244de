"""What a function takes and does is asked of `dialects/reading.py`: nobody goes into its block for it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.layering.test_imports import ALLOWED

HOME = "dialects/reading.py"
# What speaks of functions by IREE's own bindings.
WORKER = "backends/worker"

FUNCTION = re.compile(r"((found|module)\.)?(backward|call|forward|function_op|joint|main|plan|region)")
"""What a function is called, besides parameters that are said to be one."""
BLOCKS = re.compile(r"\.regions\[0\]|\.body\.blocks")


def looks_inside(source: str) -> Iterator[int]:
    """Yields the lines of the program `source` that take arguments or operations of a function's first block, or go
    through its blocks."""
    if not (".arguments" in source or BLOCKS.search(source)):
        return
    nodes = list(ast.walk(ast.parse(source)))
    said = {node.arg for node in nodes if isinstance(node, ast.arg) and is_function(node)}
    for node in nodes:
        match node:
            case ast.Attribute(
                value=ast.Subscript(value=ast.Attribute(attr="blocks")), attr="arguments" | "operations"
            ):
                yield node.lineno
            case ast.Attribute(value=of, attr="arguments"):
                if ast.unparse(of) in said or FUNCTION.fullmatch(ast.unparse(of)):
                    yield node.lineno
            case ast.For(iter=through) | ast.comprehension(iter=through):
                if BLOCKS.search(ast.unparse(through)):
                    yield through.lineno


def is_function(parameter: ast.arg) -> bool:
    """Whether a parameter is said to be a function of the IR."""
    return parameter.annotation is not None and ast.unparse(parameter.annotation) == "func.FuncOp"


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
        ("[op for op in region.operation.regions[0].blocks[0].operations]", 2),
        ("enumerate(region.arguments)", 1),
        ("found.backward.arguments[0]", 1),
        ("def f(taken: func.FuncOp):\n    return taken.arguments", 1),
        ("for block in taken.body.blocks:\n    pass", 1),
        ("[op for block in taken.regions[0] for op in block]", 1),
        ("run.arguments", 0),
        ("len(taken.body.blocks)", 0),
        ("with ir.InsertionPoint(made.body.blocks[0]):\n    pass", 0),
        ("arguments(region)", 0),
    ],
)
def test_looks_are_found(source: str, count: int) -> None:
    """Catches a check that finds nothing, or takes an insertion point for a look inside."""
    assert len(list(looks_inside(source))) == count
