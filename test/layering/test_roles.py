"""What a function is for is its role: nobody looks one up by its name, or compares names to tell."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.layering.test_imports import ALLOWED

NAMES = {"call", "forward", "backward", "apply", "guard"}
"""The names that our passes give; "joint" is a level's, too."""


def guesses(source: str) -> Iterator[int]:
    """Yields the line of each comparison with such a name, and of each look-up by one, in the program `source`."""
    if not any(f'"{name}"' in source or f"'{name}'" in source for name in NAMES):
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Compare():
                parts = [node.left, *node.comparators]
            case ast.Subscript():
                parts = [node.slice]
            case ast.Call(func=ast.Attribute(value=ast.Name(), attr="get" | "startswith")):
                parts = node.args
            case _:
                continue
        flat = [each for part in parts for each in (part.elts if isinstance(part, ast.Tuple | ast.List) else [part])]
        if any(isinstance(each, ast.Constant) and each.value in NAMES for each in flat):
            yield node.lineno


def test_names_decide_nothing(repository: Path) -> None:
    """Catches a pass that goes by what a function is called: a text may call it otherwise, and have two of a kind."""
    found = [
        f"{path.relative_to(repository)}:{line}: goes by a function's name; ask Module for its role"
        for path in sorted(path for folder in [*ALLOWED, "dovetail"] for path in (repository / folder).rglob("*.py"))
        for line in guesses(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("name == 'forward'", 1),
        ("name in ('forward', 'backward')", 1),
        ("'call' not in found", 1),
        ("found['backward']", 1),
        ("functions.get('call')", 1),
        ("callee.startswith('apply')", 1),
        ("func.FuncOp('forward', type)", 0),
        ("ir.FlatSymbolRefAttr.get('forward')", 0),
        ("role(op) is Role.FORWARD", 0),
    ],
)
def test_guess_is_found(source: str, count: int) -> None:
    """Catches a check that sees only some ways to go by a name, or forbids to give one."""
    assert len(list(guesses(source))) == count
