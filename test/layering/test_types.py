"""Torch's types are read and built in one file, `dialects/torch_facts/types.py`; everybody asks there."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.layering.test_attributes import docstrings
from test.layering.test_imports import FOLDERS

HOME = "dialects/torch_facts/types.py"
# Tools also write modules, and read dumps, as people do.
PACKAGES = [folder for folder in FOLDERS if folder != "tools"]


SPELT = ("!torch.", "vtensor<[", "tensor<[")
"""What a type's text starts with, also behind `!torch.`."""
CUTS = ("partition", "removeprefix", "replace", "split", "startswith")
"""What takes the name of an element type apart."""


def spelt_types(source: str) -> Iterator[int]:
    """Yields the lines of the program `source` where a torch type is spelt, or a type's text is taken apart."""
    tree = ast.parse(source)
    sentences = docstrings(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if text.startswith(SPELT) and node not in sentences:
                yield node.lineno
            case ast.Attribute(value=ast.Name(id="dtype") | ast.Attribute(attr="dtype"), attr=name) if name in CUTS:
                yield node.lineno
            case ast.Compare(left=ast.Constant(value=str()), comparators=[searched]) if is_text_of_type(searched):
                yield node.lineno
            case ast.Attribute(value=searched) if is_text_of_type(searched):
                yield node.lineno


def is_text_of_type(node: ast.expr) -> bool:
    """Whether `node` is `str(value.type)` or the like."""
    match node:
        case ast.Call(func=ast.Name(id="str"), args=[of]):
            return ast.unparse(of).endswith((".type", "type_"))
    return False


def test_types_are_read_and_built_in_one_file(repository: Path) -> None:
    """Catches code that cuts a type's text, and is wrong on the day on which types say more than sizes and elements."""
    found = [
        f"{path.relative_to(repository)}:{line}: reads or spells a torch type; {HOME} does that"
        for path in sorted(path for folder in PACKAGES for path in (repository / folder).rglob("*.py"))
        for line in spelt_types(path.read_text(encoding="utf-8"))
        if path != repository / HOME
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "is_reported"),
    [
        ("ir.Type.parse('!torch.none')", True),
        ("ir.Type.parse(f'!torch.vtensor<[{size}],f32>')", True),
        ("torch_type(f'vtensor<[{size}],si64>')", True),
        ("info.dtype.startswith('int')", True),
        ("dtype.replace('int', 'i')", True),
        ("str(value.type).startswith(prefix)", True),
        ("'vtensor' in str(type_)", True),
        ("raise fail(f\"expects '!torch.vtensor', got '{type_}'\")", False),
        ("str(value.type) == '!hal.buffer'", False),
        ('def f():\n    """!torch.tensor for !torch.vtensor"""', False),
    ],
)
def test_spelt_types_are_found(source: str, is_reported: bool) -> None:
    """Catches a check that sees only some of the ways to take a type's text apart."""
    assert bool(list(spelt_types(source))) == is_reported
