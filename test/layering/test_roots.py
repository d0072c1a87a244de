"""Whose memory a value lies in is asked of `dialects/memory/roots.py`: nobody walks from views to their root alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.layering.test_imports import FOLDERS

VIEWS = {"ViewOp", "DetachOp", "ReadOp", "VIEW", "BY_STRIDES", "OPERAND", "is_view", "shows_operand", "alias_info"}
"""What tells that an op shows its operand's memory."""


def names(node: ast.AST) -> set[str]:
    """The names and attributes that `node` mentions."""
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute)
    }


def walks(source: str) -> Iterator[int]:
    """Yields the line of each loop, and of each function that calls itself, that goes from a value to an operand of its
    op as long as that is a view."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and names(node) & VIEWS:
            again = [each for each in ast.walk(node) if isinstance(each, ast.Call) and node.name in names(each.func)]
            if any("operands" in names(step) for each in again for step in each.args):
                yield node.lineno
        if isinstance(node, ast.While) and names(node) & VIEWS and "owner" in names(node):
            steps = [each.value for each in ast.walk(node) if isinstance(each, ast.Assign)]
            if any(names(step) & {"operands", "ref"} for step in steps):
                yield node.lineno


def test_nobody_walks_alone(repository: Path) -> None:
    """Catches a second answer to whose memory a value lies in, which need not agree with the first."""
    home = repository / "dialects" / "memory" / "roots.py"
    found = [
        f"{path.relative_to(repository)}:{line}: walks to a root; ask dovetail.dialects.memory.roots"
        for path in sorted(path for folder in FOLDERS for path in (repository / folder).rglob("*.py"))
        for line in walks(path.read_text(encoding="utf-8"))
        if path != home
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("while isinstance(ref.owner.opview, ViewOp):\n    ref = ref.owner.opview.ref", 1),
        ("while True:\n    op = value.owner\n    if not is_view(op): break\n    value = op.operands[0]", 1),
        ("def climb(value):\n    return climb(owner(value).operands[0]) if kind(value) is Kind.VIEW else value", 1),
        ("def count(op):\n    return 1 + count(op.operands[0])", 0),
        ("while is_copy(value.owner):\n    value = value.owner.operands[0]", 0),
        ("while pending:\n    op = pending.pop()\n    if is_view(op):\n        pending.extend(op.owner.operands)", 0),
    ],
)
def test_walk_is_found(source: str, count: int) -> None:
    """Catches a check that finds no walk, or takes another loop for one."""
    assert len(list(walks(source))) == count
