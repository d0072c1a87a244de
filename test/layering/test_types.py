"""Torch's types are read and built in one file, `dialects/torch_facts/types.py`; everybody asks there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from test.layering.test_attributes import docstrings
from test.layering.test_imports import FOLDERS

HOME = "dialects/torch_facts/types.py"
# Tools also write modules, and read dumps, as people do.
PACKAGES = [folder for folder in FOLDERS if folder != "tools"]

SCHEMA = "asks ATen's schemas, whose types only their text tells apart"
BINDINGS = "reads IREE's IR by IREE's own bindings, which know its types by their text alone"
TEXTS = {
    "dialects/torch_facts/broadcast_strides.py": SCHEMA,
    "dialects/torch_facts/out_overloads.py": SCHEMA,
    "backends/worker/host_program.py": BINDINGS,
    "backends/worker/numbers.py": BINDINGS,
    "backends/worker/terms.py": BINDINGS,
}
"""Where the text of a type is what is asked for, and why."""

SPELT = ("!torch.", "vtensor<[", "tensor<[")
"""What a type's text starts with, also behind `!torch.`."""
CUTS = ("partition", "removeprefix", "replace", "split", "startswith")
"""What takes the name of an element type apart."""


def spelt_types(source: str) -> Iterator[int]:
    """Yields the lines of the program `source` where a torch type is spelt, or the name of an element type cut."""
    if not any(each in source for each in (*SPELT, *(f"dtype.{cut}" for cut in CUTS))):
        return
    tree = ast.parse(source)
    sentences = docstrings(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if text.startswith(SPELT) and node not in sentences:
                yield node.lineno
            case ast.Attribute(value=ast.Name(id="dtype") | ast.Attribute(attr="dtype"), attr=name) if name in CUTS:
                yield node.lineno


def texts_of_types(source: str) -> Iterator[int]:
    """Yields the lines of the program `source` where the text of a type is made, but to stand in a sentence."""
    if not re.search(r"(?:\.type|type_)\s*[)},!:]", source):
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="str" | "repr"), args=[of]) if is_type(of):
                yield node.lineno
            case ast.JoinedStr(values=[ast.FormattedValue(value=of)]) if is_type(of):
                yield node.lineno


def is_type(node: ast.expr) -> bool:
    """Whether `node` is called as types are."""
    return ast.unparse(node).endswith((".type", "type_"))


def test_types_are_read_and_built_in_one_file(repository: Path) -> None:
    """Catches code that reads a type's text, and is wrong once types say more than sizes and elements."""
    sources = {
        path.relative_to(repository).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(path for folder in PACKAGES for path in (repository / folder).rglob("*.py"))
    }
    del sources[HOME]
    found = [
        f"{name}:{line}: {what} a torch type; {HOME} does that"
        for name, source in sources.items()
        for what, lines in (("spells", spelt_types(source)), ("makes a text of", texts_of_types(source)))
        for line in lines
        if what == "spells" or name not in TEXTS
    ]
    assert not found, "\n" + "\n".join(found)
    idle = [name for name in TEXTS if not list(texts_of_types(sources[name]))]
    assert not idle, f"no text of a type is asked for any more in {idle}"


@pytest.mark.parametrize(
    ("source", "is_reported"),
    [
        ("ir.Type.parse('!torch.none')", True),
        ("ir.Type.parse(f'!torch.vtensor<[{size}],f32>')", True),
        ("torch_type(f'vtensor<[{size}],si64>')", True),
        ("info.dtype.startswith('int')", True),
        ("dtype.replace('int', 'i')", True),
        ("raise fail(f\"expects '!torch.vtensor', got '{type_}'\")", False),
        ("str(value.type) == '!hal.buffer'", False),
        ('def f():\n    """!torch.tensor for !torch.vtensor"""', False),
    ],
)
def test_spelt_types_are_found(source: str, is_reported: bool) -> None:
    """Catches a check that sees only some of the ways to spell a type."""
    assert bool(list(spelt_types(source))) == is_reported


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("str(value.type).startswith(prefix)", 1),
        ("'vtensor' in str(type_)", 1),
        ("sorted(str(update.value.type) for update in family)", 1),
        ("key = f'{value.type}'", 1),
        ("f\"expects '{expected}', got '{value.type}'\"", 0),
        ("str(value)", 0),
        ("type_ == value.type", 0),
    ],
)
def test_texts_of_types_are_found(source: str, count: int) -> None:
    """Catches a check that sees only some of the ways to make a text of a type, or forbids to name one in an error."""
    assert len(list(texts_of_types(source))) == count
