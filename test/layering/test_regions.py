"""Regions are built in one place, `dialects/building/region_builder.py`: nobody else makes a function a region."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.layering.test_imports import FOLDERS

HOME = "dialects/building/region_builder.py"

OTHERS = {
    "tools/measure_costs.py": "writes modules as texts, of regions that no graph has",
    "tools/sweep/imported.py": "compiles a whole function as imported, which has no host to build a region for",
}
"""What else makes regions, and why."""


def made(source: str) -> Iterator[int]:
    """Yields the line of each statement of the program `source` that makes a function a region."""
    if "REGION" not in source and "ROLE" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="set_role" | "new_function"), args=parts, keywords=named):
                if any(ast.unparse(each) == "Role.REGION" for each in [*parts, *(each.value for each in named)]):
                    yield node.lineno
            case ast.Assign(targets=[ast.Subscript(slice=ast.Name(id="ROLE"))], value=stated):
                if "region" in ast.unparse(stated).lower():
                    yield node.lineno
            case ast.FormattedValue(value=ast.Attribute(attr="value") as stated):
                if ast.unparse(stated) == "Role.REGION.value":
                    yield node.lineno


def test_regions_are_built_in_one_place(repository: Path) -> None:
    """Catches a second builder, whose regions lack the facts of arguments and results that the first one states."""
    paths = (path for folder in FOLDERS for path in (repository / folder).rglob("*.py"))
    lines = {
        path.relative_to(repository).as_posix(): found
        for path in sorted(paths)
        if (found := list(made(path.read_text(encoding="utf-8"))))
    }
    assert lines.pop(HOME)
    assert lines.keys() == OTHERS.keys(), lines


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("set_role(made, Role.REGION)", 1),
        ("new_function('region', role=Role.REGION)", 1),
        ("made.attributes[ROLE] = ir.StringAttr.get('region')", 1),
        ("f'attributes {ROLE} = {Role.REGION.value}'", 1),
        ("set_role(made, Role.CALL)", 0),
        ("role(made) is Role.REGION", 0),
        ("module.of(Role.REGION)", 0),
    ],
)
def test_makers_are_found(source: str, count: int) -> None:
    """Catches a check that finds no maker of regions, or takes who asks for them for one."""
    assert len(list(made(source))) == count
