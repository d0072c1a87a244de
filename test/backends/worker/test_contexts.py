"""What an edit of a text pays before it edits."""

import pytest
from iree.compiler import ir

from dovetail.backends.worker.main import TASKS


@pytest.mark.parametrize("task", [name for name in TASKS if name != "plans"])
def test_edits_load_no_dialect_that_nobody_needs(task: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a context of all dialects: it took ten milliseconds of each edit, which are four a batch of a GPU's."""
    said = {"plain": ()}, b"module {\n}\n"
    TASKS[task](*said)  # importing the bindings of `linalg` makes a context

    def load_all(context: ir.Context) -> None:
        raise AssertionError("all dialects are loaded")

    monkeypatch.setattr(ir.Context, "load_all_available_dialects", load_all)
    _, edited = TASKS[task](*said)
    assert edited == said[1]
