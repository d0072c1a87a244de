"""The names of the IR's attributes stand in one file, `dialects/attributes.py`; everybody imports them from there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.dialects import attributes
from dovetail.dialects.control_flow import COND, WHILE_LOOP
from dovetail.dialects.dovetail import Dovetail
from test.layering.test_imports import FOLDERS, is_module

OTHERS = {COND, WHILE_LOOP, *(op.OPERATION_NAME for op in Dovetail.operations)}
"""Names of the same form that are no attributes: ops and host calls."""
FORM = re.compile(r"(?<![\w.])dovetail\.[a-z_]+(?![\w.(])")
IMPORT = re.compile(r"^\s*(?:from|import) dovetail[\w.]*", re.MULTILINE)


def docstrings(tree: ast.AST) -> set[ast.expr]:
    """Strings that stand alone, as sentences for the reader do."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def spelt(source: str, root: Path) -> Iterator[tuple[int, str]]:
    """Yields (line, name) for each attribute's name in a string of the program `source`.

    A name that no attribute has counts only where it is all of a string: it may be one that nobody has listed.
    """
    if not FORM.search(IMPORT.sub("", source)):  # to parse all takes seconds
        return
    tree = ast.parse(source)
    sentences = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in sentences:
            for match in FORM.finditer(node.value):
                is_unlisted = match[0] == node.value and match[0] not in OTHERS and not is_module(match[0], root)
                if match[0] in attributes.NAMES or is_unlisted:
                    yield node.lineno, match[0]


def test_names_stand_in_one_file(repository: Path) -> None:
    """Catches a second spelling of an attribute: one that is renamed in one place only, or that no document lists."""
    home = repository / "dialects" / "attributes.py"
    found = [
        f"{path.relative_to(repository)}:{line}: spells '{name}'; import it from dovetail.dialects.attributes"
        for path in sorted(path for folder in FOLDERS for path in (repository / folder).rglob("*.py"))
        for line, name in spelt(path.read_text(encoding="utf-8"), repository)
        if path != home
    ]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("op.attributes['dovetail.saved']", ["dovetail.saved"]),
        ("'dovetail.new_fact' in facts", ["dovetail.new_fact"]),
        ("f\"expects 'dovetail.name' of {op}\"", ["dovetail.name"]),
        ("'dovetail.saved dovetail.name'.split()", ["dovetail.saved", "dovetail.name"]),
        ("op.name == 'dovetail.view'", []),
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
