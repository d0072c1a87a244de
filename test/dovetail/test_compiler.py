"""The driver's own errors: what it says of the environment that it is given."""

from pathlib import Path

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed


def test_dump_folder_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch dumps that are silently not written, or a message without the variable's name and what would do."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("DOVETAIL_DUMP", str(tmp_path / "file"))
    with pytest.raises(BackendCompilerFailed) as caught:
        torch.compile(torch.sin, backend="dovetail")(torch.ones(4))
    assert str(caught.value.inner_exception) == (
        f"DOVETAIL_DUMP={tmp_path / 'file'}: File exists; expected a folder that can be written"
    )
