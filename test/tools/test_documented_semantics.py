"""The page of semantics shows the lines that a row is about."""

import sys
from pathlib import Path

import pytest

from dovetail.tools.documented_semantics import FOLDER, GROUPS, Row, rows, trimmed

TEXT = """
!ref4 = !dovetail.ref<!torch.vtensor<[4],f32>, strided<[1]>>
module attributes {dovetail.level = "joint"} {
  func.func @joint(%arg0: !ref4) -> !ref4 attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%arg0) : (!ref4) -> !value4
    %int2 = torch.constant.int 2
    %1 = torch.aten.mul.Scalar %0, %int2 : !value4, !torch.int -> !value4
    %2 = torch.aten.sin %1 : !value4 -> !value4
    %3 = torch.aten.cos %2 : !value4 -> !value4
    return %arg0 : !ref4
  }
}
"""


def test_computations_that_a_row_checks_are_kept():
    """The page leaves out an op that the row is about, or fills up with those that it is not."""
    row = Row("I0", "", abs, list, "CHECK: torch.aten.mul.Scalar")
    assert trimmed(TEXT, row).splitlines() == [
        'func.func @joint(%arg0: !ref4) -> !ref4 attributes {dovetail.role = "joint"} {',
        '  %0 = "dovetail.read"(%arg0) : (!ref4) -> !value4',
        "  %1 = torch.aten.mul.Scalar %0, %int2 : !value4, !torch.int -> !value4",
        "  ...",
        "  return %arg0 : !ref4",
    ]


def test_rows_of_another_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The tests can't be collected beside an installed package: rows are looked for where that lies."""
    (tmp_path / FOLDER).mkdir(parents=True)
    for name in GROUPS.values():
        monkeypatch.delitem(sys.modules, f"semantics_{name}", raising=False)
        (tmp_path / FOLDER / f"{name}.py").write_text(f"ROWS = [{name!r}]\n", encoding="utf-8")
    assert rows(tmp_path) == list(GROUPS.values())
