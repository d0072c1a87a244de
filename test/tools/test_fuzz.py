"""The fuzzer's command line, and a fixed budget of its programs."""

from pathlib import Path

import pytest

from dovetail.tools.fuzz.__main__ import main

BUDGET = 150


def test_no_difference(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches whatever made compiled code differ from eager since these programs last ran."""
    arguments = ["--seeds", f"0:{BUDGET}", "--iree-every", "25", "--minimise", "1", "-o", str(tmp_path / "report.md")]
    status = main(arguments)
    assert status == 0, capsys.readouterr().out
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert f"| programs | {BUDGET} |" in text


def test_range_of_seeds_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a mistyped range that runs nothing and passes."""
    for wrong in ("5:5", "a:b", "9:3", ":4"):
        with pytest.raises(SystemExit):
            main(["--seeds", wrong])
    assert "is not a range of seeds" in capsys.readouterr().err
