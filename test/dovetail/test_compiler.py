"""The driver's own errors: what it says of the environment that it is given."""

import errno
from pathlib import Path

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed

import dovetail
from dovetail import compiler
from dovetail.errors import DefectWarning, EagerWarning
from dovetail.frontend.capture import capture


def test_dump_folder_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Would catch dumps that are silently not written, or a message without the variable's name and what would do."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("DOVETAIL_DUMP", str(tmp_path / "file"))
    with pytest.raises(BackendCompilerFailed) as caught:
        torch.compile(torch.sin, backend="dovetail")(torch.ones(4))
    assert str(caught.value.inner_exception) == (
        f"DOVETAIL_DUMP={tmp_path / 'file'}: File exists; expected a folder that can be written"
    )


def test_a_defect_runs_eagerly_and_fails_tests(monkeypatch: pytest.MonkeyPatch):
    """Would catch a defect that ends the user's program, or one that a comparison with eager takes for right."""
    monkeypatch.setattr(compiler, "import_capture", lambda *_: undefined)  # noqa: F821 - the defect
    before = dovetail.stats()
    compiled = torch.compile(torch.sin, backend="dovetail")
    location = r"NameError: name 'undefined' is not defined \(test_compiler.py:\d+\)"
    with pytest.warns(DefectWarning, match=location):
        assert compiled(torch.zeros(4)).equal(torch.zeros(4))
    after = dovetail.stats()
    assert sum((after.eager - before.eager).values()) == 1
    assert after.compile_seconds["import"] > before.compile_seconds.get("import", 0.0)
    torch._dynamo.reset()
    with pytest.raises(BackendCompilerFailed, match=location):
        compiled(torch.zeros(4))


def test_a_defect_fixes_sizes_and_fails_tests(monkeypatch: pytest.MonkeyPatch):
    """Would catch a pass that fails on open sizes only: each size has a graph of its own, and no test is told."""

    def fails_on_open_sizes(gm, inputs, env):
        if env is not None:
            raise KeyError("a size")
        return capture(gm, inputs, env)

    monkeypatch.setattr(compiler, "capture", fails_on_open_sizes)
    before = dovetail.stats()
    compiled = torch.compile(torch.sin, backend="dovetail", dynamic=True)
    with pytest.warns(DefectWarning, match=r"fixes a graph's sizes .* KeyError: 'a size' \(test_compiler.py:\d+\)"):
        assert compiled(torch.zeros(4)).equal(torch.zeros(4))
    after = dovetail.stats()
    assert sum((after.specialised - before.specialised).values()) == 1
    assert not after.eager - before.eager


def test_what_the_machine_lacks_is_no_defect(monkeypatch: pytest.MonkeyPatch):
    """Would catch a full disk that ends the user's program, or is reported as a bug of the compiler."""

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(compiler, "import_capture", full)
    with pytest.warns(EagerWarning, match="No space left on device"):
        assert torch.compile(torch.sin, backend="dovetail")(torch.zeros(4)).equal(torch.zeros(4))
