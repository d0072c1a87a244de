"""The fuzzer's command line, and a fixed budget of its programs."""

from pathlib import Path

import pytest

from dovetail.tools.fuzz.__main__ import main


@pytest.mark.parametrize(("kind", "first", "end"), [("alias", 0, 60), ("compute", 1, 10)])
def test_no_difference(kind: str, first: int, end: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Catches whatever made compiled code differ from eager since these programs last ran."""
    output = tmp_path / "report.md"
    arguments = [
        "--kinds",
        kind,
        "--seeds",
        f"{first}:{end}",
        "--jobs",
        "1",
        "--iree-every",
        "25",
        "--minimise",
        "1",
        "-o",
        str(output),
    ]
    status = main(arguments)
    assert status == 0, capsys.readouterr().out
    assert f"| programs | {end - first} |" in output.read_text(encoding="utf-8")


def test_run_stops_and_goes_on(tmp_path: Path) -> None:
    """Catches a run that goes beyond its time, or a record after which nothing is left to run, or all."""
    arguments = ["--kinds", "alias", "--seeds", "0:4", "--jobs", "1", "--record", str(tmp_path / "record")]
    output = tmp_path / "report.md"
    main([*arguments, "--seconds", "0", "-o", str(output)])
    assert "| programs | 0 |" in output.read_text(encoding="utf-8")
    main([*arguments, "-o", str(output)])
    assert "| programs | 4 |" in output.read_text(encoding="utf-8")


def test_kinds_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a mistyped kind that runs nothing and passes."""
    with pytest.raises(SystemExit):
        main(["--kinds", "alias,computed"])
    assert "expected some of alias,compute" in capsys.readouterr().err


def test_range_of_seeds_is_checked(capsys: pytest.CaptureFixture[str]) -> None:
    """Catches a mistyped range that runs nothing and passes."""
    for wrong in ("5:5", "a:b", "9:3", ":4"):
        with pytest.raises(SystemExit):
            main(["--seeds", wrong])
    assert "is not a range of seeds" in capsys.readouterr().err
