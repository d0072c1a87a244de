"""What tracing copies, though eager returns it as it is, must not lose a write: such graphs run eagerly."""

import pytest
import torch
from differential import assert_same

from dovetail.errors import EagerWarning
from dovetail.frontend import capture


def test_copy_that_eager_does_not_make(monkeypatch: pytest.MonkeyPatch):
    """Catches a write that is lost, silently, where PyTorch's tracing copies: idle dropout, if nothing replaced it."""
    monkeypatch.setattr(capture, "replace_idle_dropout", lambda gm: None)

    def fn(x):
        made = torch.nn.functional.dropout(x, 0.5, training=False)
        made.mul_(2)
        return x + 1

    with pytest.warns(EagerWarning, match="PyTorch's tracing gives its result other memory than eager"):
        assert_same(fn, torch.ones(3), eager=True, graphs=0)


def test_copy_of_what_is_not_written(monkeypatch: pytest.MonkeyPatch):
    """Catches a graph that is not compiled though the copy shows nowhere."""
    monkeypatch.setattr(capture, "replace_idle_dropout", lambda gm: None)
    assert_same(lambda x: torch.nn.functional.dropout(x, 0.5, training=False).exp(), torch.ones(3))
