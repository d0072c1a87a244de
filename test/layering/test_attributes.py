"""The names of the IR's attributes stand in one file, `dialects/attributes.py`; those of our ops are their classes'."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.dialects import attributes
from dovetail.dialects.control_flow import COND, WHILE_LOOP
from dovetail.dialects.dovetail import Dovetail
from test.layering.test_imports import FOLDERS, is_module

OPS = {op.OPERATION_NAME: op.__name__ for op in Dovetail.operations}
OTHERS = {COND, WHILE_LOOP}
"""Names of the same form that are neither attributes nor ops: host calls."""
HOMES = {"dialects/attributes.py": attributes.NAMES, "dialects/dovetail/": OPS}
"""Which names alone stand where, by the start of the path."""
FORM = re.compile(r"(?<![\w.])dovetail\.[a-z_]+(?![\w.(])")
IMPORT = re.compile(r"^\s*(?:from|import) dovetail[\w.]*", re.MULTILINE)


def docstrings(tree: ast.AST) -> set[ast.expr]:
    """Strings that stand alone, as sentences for the reader do."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def spelt(source: str, root: Path) -> Iterator[tuple[int, str]]:
    """Yields (line, name) for each name of an attribute or an op in a string of the program `source`.

    A name that neither has counts only where it is all of a string: it may be one that nobody has listed.
    """
    if not FORM.search(IMPORT.sub("", source)):  # to parse all takes seconds
        return
    tree = ast.parse(source)
    sentences = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in sentences:
            for match in FORM.finditer(node.value):
                is_unlisted = match[0] == node.value and match[0] not in OTHERS and not is_module(match[0], root)
                if match[0] in attributes.NAMES or match[0] in OPS or is_unlisted:
                    yield node.lineno, match[0]


def test_names_stand_in_one_place(repository: Path) -> None:
    """Catches a second spelling of a name: one that is changed in one place only, or that no document lists."""
    sources = {
        path.relative_to(repository).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(path for folder in FOLDERS for path in (repository / folder).rglob("*.py"))
    }
    found = [
        f"{path}:{line}: spells '{name}'; import {OPS.get(name, 'its constant')} from dovetail.dialects"
        for path, source in sources.items()
        for line, name in spelt(source, repository)
        if not any(path.startswith(home) and name in names for home, names in HOMES.items())
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("op.attributes['dovetail.saved']", ["dovetail.saved"]),
        ("'dovetail.new_fact' in facts", ["dovetail.new_fact"]),
        ("f\"expects 'dovetail.name' of {op}\"", ["dovetail.name"]),
        ("'dovetail.saved dovetail.name'.split()", ["dovetail.saved", "dovetail.name"]),
        ("op.name == 'dovetail.view'", ["dovetail.view"]),
        ("f\"expects a 'dovetail.own', got {op}\"", ["dovetail.own"]),
        ("name = 'dovetail.cond'", []),
        ("logging.getLogger('dovetail.errors')", []),
        ("def f():\n    '''Reads `dovetail.saved`.'''", []),
        ("print('see dovetail.stats()')", []),
    ],
)
def test_spelling_is_found(repository: Path, source: str, names: list[str]) -> None:
    """Catches a check that sees no name at all, or takes the names of ops and modules for those of attributes."""
    assert [name for _, name in spelt(source, repository)] == names


def test_each_name_is_explained(repository: Path) -> None:
    """Catches a constant without its sentence, which would miss in the documents, or with one of another form."""
    body = ast.parse((repository / "dialects" / "attributes.py").read_text(encoding="utf-8")).body
    for index, node in enumerate(body):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            said = body[index + 1]
            assert isinstance(said, ast.Expr), ast.unparse(node)
            assert re.match(r"[^:]+: .+\.$", ast.literal_eval(said.value), re.DOTALL), ast.unparse(node)
