"""Whose memory a value lies in is asked of `dialects/memory/roots.py`: nobody walks from views to their root alone."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.layering.test_imports import FOLDERS

HOME = "dialects/memory/roots.py"

VIEWS = {"ViewOp", "DetachOp", "ReadOp", "VIEW", "BY_STRIDES", "OPERAND", "is_view", "shows_operand", "alias_info"}
"""What tells that an op shows its operand's memory."""

MAKERS = {"owner", "producer", "made_by"}
"""What gives the op that computes a value."""
FOLLOWERS = {
    "dialects/torch_facts/reshapes.py": "asks what kernels read of a value in a region, whose values have no memory",
    "passes/cleanup/fold_indices.py": "looks for numbers behind reshapes, wherever they lie",
    "passes/cleanup/fold_one_hot_sums.py": "looks for numbers behind conversions, which have memory of their own",
    "passes/in_place/update_regions.py": "looks for numbers behind reshapes in a region, whose values have no memory",
    "passes/regions/summation_order.py": "asks how numbers lie behind pointwise ops, which have memory of their own",
    "dovetail/explanation/value_origins.py": "looks for an op that says its line, whatever that computes",
}
"""Who goes to operands without asking whose memory they lie in, and why."""


def names(node: ast.AST) -> set[str]:
    """The names and attributes that `node` mentions."""
    return {
        each.id if isinstance(each, ast.Name) else each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Name | ast.Attribute)
    }


def walks(source: str) -> Iterator[int]:
    """Yields the line of each loop that goes from a value to the first operand, or the ref, of its op; and of each that
    goes to any operand, and each function that calls itself with one, as long as an op is a view; and of each that goes
    through ops in order and takes the first operand of those that show it."""
    if "operands" not in source and ".ref" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and names(node) & VIEWS:
            again = [each for each in ast.walk(node) if isinstance(each, ast.Call) and node.name in names(each.func)]
            if any("operands" in names(step) for each in again for step in each.args):
                yield node.lineno
        if isinstance(node, ast.For) and "shows_operand" in names(node) and any(map(is_first_operand, ast.walk(node))):
            yield node.lineno
        if isinstance(node, ast.While) and names(node) & MAKERS:
            steps = [each.value for each in ast.walk(node) if isinstance(each, ast.Assign)]
            is_first = any(is_first_operand(part) for step in steps for part in ast.walk(step))
            if is_first or (names(node) & VIEWS and any("operands" in names(step) for step in steps)):
                yield node.lineno


def is_first_operand(node: ast.AST) -> bool:
    """Whether `node` is the first operand of an op, or the ref that one takes."""
    match node:
        case (
            ast.Subscript(value=ast.Attribute(attr="operands"), slice=ast.Constant(value=0)) | ast.Attribute(attr="ref")
        ):
            return True
    return False


def test_nobody_walks_alone(repository: Path) -> None:
    """Catches a second answer to whose memory a value lies in, which need not agree with the first."""
    found = {
        path.relative_to(repository).as_posix(): lines
        for path in sorted(path for folder in FOLDERS for path in (repository / folder).rglob("*.py"))
        if (lines := list(walks(path.read_text(encoding="utf-8"))))
    }
    assert found.pop(HOME)
    alone = [f"{name}:{line}: walks to a root; ask {HOME}" for name in found.keys() - FOLLOWERS for line in found[name]]
    assert not alone, "\n" + "\n".join(sorted(alone))
    assert found.keys() == FOLLOWERS.keys(), "a follower follows no more"


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("while isinstance(ref.owner.opview, ViewOp):\n    ref = ref.owner.opview.ref", 1),
        ("for op in ops:\n    if shows_operand(op):\n        roots[op.result] = roots[op.operands[0]]", 1),
        ("for op in ops:\n    if is_read(op):\n        found[op.result] = op.operands[0]", 0),
        ("while True:\n    op = value.owner\n    if not is_view(op): break\n    value = op.operands[0]", 1),
        ("def climb(value):\n    return climb(owner(value).operands[0]) if kind(value) is Kind.VIEW else value", 1),
        ("def count(op):\n    return 1 + count(op.operands[0])", 0),
        ("while made is not None and kind(made) is Kind.VIEW:\n    made = producer(made.operands[0])", 1),
        ("while (op := made_by(value, *NAMES)) is not None:\n    value = op.operands[0]", 1),
        ("while is_copy(value.owner):\n    value = value.owner.operands[0]", 1),
        ("while op is not None:\n    op = producer(the_tensor(op))", 0),
        ("while pending:\n    op = pending.pop()\n    if is_view(op):\n        pending.extend(op.owner.operands)", 0),
    ],
)
def test_walk_is_found(source: str, count: int) -> None:
    """Catches a check that finds no walk, or takes another loop for one."""
    assert len(list(walks(source))) == count
