"""Each row of the table of wrongs, eager against Dovetail in this process."""

from pathlib import Path

import pytest

import dovetail
from dovetail.tools.wrongs.case import Case
from dovetail.tools.wrongs.cases import CASES, TELLING
from dovetail.tools.wrongs.observe import observe


@pytest.mark.usefixtures("remembered_runs")
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_row(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Catches what the row's title says: a value, an object, a version or a gradient that is not eager's.

    The telling rows run as users run them; `make wrongs` runs all of them so.
    """
    if case.name not in TELLING:
        request.getfixturevalue("op_by_op")
    for number, order in enumerate(case.orders()):
        monkeypatch.setenv("DOVETAIL_CACHE_DIR", str(tmp_path / str(number)))
        for observation in order:
            expected = observe(case.function, observation, "eager")
            before = dovetail.stats()
            actual = observe(case.function, observation, "dovetail")
            assert not expected.failure, f"eager {expected.failure}: nothing to compare with"
            assert (actual.facts, actual.failure) == (expected.facts, "")
            compiled = dovetail.stats().graphs > before.graphs
            assert compiled or actual.eagerly, "Dovetail was not asked"
