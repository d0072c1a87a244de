"""Why ops are left to ATen: each reason is a record, and stands in docs/ops.md with what would change it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dovetail.dialects.torch_facts.rows import ROWS
from dovetail.dialects.torch_facts.rows.kinds import OF_KINDS
from dovetail.passes.placement.reasons import REASONS
from dovetail.tools.documented_ops import stated

ROOT = Path(__file__).parents[3]
STATING = ("call_small_regions", "iree_support", "open_sizes", "place_ops", "placement_rules", "slow_reductions")
REFUSED = [refused.reason for row in ROWS.values() for refused in row.refused]


def texts_in(source: str) -> Iterator[str]:
    """The texts of several words in the code of a module, docstrings apart."""
    tree = ast.parse(source)
    said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said and " " in node.value:
            yield node.value


def test_every_reason_is_documented():
    """Would catch a reason that users read and of which no document says what would change it."""
    section = (ROOT / "docs/ops.md").read_text(encoding="utf-8").partition("<!-- end ops:reasons -->")[0]
    reasons = [*map(stated, REASONS), *(each.refused.reason for each in OF_KINDS)]
    assert [reason for reason in reasons if f"| `{reason}`" not in section] == []


@pytest.mark.parametrize("name", STATING)
def test_reasons_are_records(name: str):
    """Would catch a reason that is written where it is stated: the table of reasons would lack it."""
    source = (ROOT / f"passes/placement/{name}.py").read_text(encoding="utf-8")
    assert list(texts_in(source)) == []


def test_texts_are_found():
    """A search that finds nothing would prove nothing."""
    assert list(texts_in('"""A module."""\nx = "library", f"no kernel of {y}"\n')) == ["no kernel of "]


def test_whatever_states_reasons_is_searched():
    """Would catch a pass that leaves ops to ATen and is not searched for texts."""
    stating = re.compile(r"^from dovetail\.passes\.placement(\.reasons import| import reasons)", re.MULTILINE)
    sources = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "passes/placement").glob("*.py")}
    assert {name for name, source in sources.items() if stating.search(source)} == set(STATING)


def test_quoted_reasons_are_those_of_records():
    """Would catch a reason that comes from elsewhere, or one with other numbers in it than its record has places."""
    quoted = {
        reason
        for path in (ROOT / "test/passes/placement").glob("*.mlir")
        for reason in re.findall(r'CHECK.*placement_reason = "([^"{]*)"', path.read_text(encoding="utf-8"))
    }
    patterns = ["[^,]+".join(map(re.escape, re.split(r"{[^}]*}", each.text))) for each in REASONS]
    known = re.compile("|".join([*patterns, *map(re.escape, REFUSED), *(each.refused.reason for each in OF_KINDS)]))
    assert len(quoted) > 9
    assert [reason for reason in quoted - {"why"} if not known.fullmatch(reason)] == []
