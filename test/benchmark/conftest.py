"""What the tests of the benchmark share."""

import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def mistaken(repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable:
    """`mistaken(script, *arguments)`: the status and the messages of a script that ends before it measures anything.

    It runs in this process, which has imported what a process of its own would take seconds for.
    """

    def run(script: str, *arguments: str) -> tuple[int, str]:
        monkeypatch.syspath_prepend(str(repository / "benchmark"))
        monkeypatch.setattr(sys, "argv", [script, *arguments])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(repository / "benchmark" / script), run_name="__main__")
        return ended.value.code, capsys.readouterr().err

    return run
