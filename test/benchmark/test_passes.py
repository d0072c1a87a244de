"""The benchmark of the passes runs every pass, says how they grow, and names bad options."""

import runpy
from pathlib import Path

import pytest

from dovetail.passes.pipeline import compile_pipeline


def test_page_has_every_pass(repository: Path, tmp_path: Path):
    """A pass that is left out of the table or took no time, depths in the wrong order, or a page without figures."""
    target = tmp_path / "page.md"
    main = runpy.run_path(str(repository / "benchmark" / "passes.py"))["main"]
    assert main(["--layers", "2", "1", "--repeats", "1", "-o", str(target)]) in (0, 1)  # 1: so few say little of growth
    rows = [[field.strip(" `") for field in line.split("|")[1:-1]] for line in target.read_text().splitlines()]
    depths = [row for row in rows if len(row) == 3 and row[0].isdigit()]
    assert [row[0] for row in depths] == ["1", "2"]
    assert all(float(seconds) > 0 for *_, seconds in depths)
    passes = [row for row in rows if len(row) == 5 and row[0] != "pass" and not row[0].startswith("---")]
    assert [row[0] for row in passes] == list(dict.fromkeys(str(each) for each in compile_pipeline()))
    assert sum(float(row[2]) for row in passes) > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--layers", "2"), "passes.py: error: --layers: expected two or more different depths, from 1 up"),
        (("--layers", "0", "2"), "passes.py: error: --layers: expected two or more different depths, from 1 up"),
        (("--repeats", "0"), "passes.py: error: --repeats 0: expected 1 or more"),
    ],
)
def test_bad_option_is_named(mistaken, arguments: tuple[str, ...], message: str):
    """A division by zero in place of a message, after a minute of work."""
    status, messages = mistaken("passes.py", *arguments)
    assert status == 2
    assert messages.splitlines()[-1] == message
