"""The classes that a module's text names: those that are here already, and wrap tensors."""

import sys
from pathlib import Path

import pytest
import torch
from torch.testing._internal.two_tensor import TwoTensor

from dovetail.dialects.statements.wrapped import Wrapped
from dovetail.errors import ModuleError
from dovetail.wrapping import class_name, wrap


def _wrapped(name: str) -> Wrapped:
    return Wrapped(name, ("a", "b"), (0, 1), "None", (2,), (1,))


def test_class_of_an_imported_module_is_found():
    """Catches a check so strict that no wrapper passes it."""
    name = class_name(TwoTensor)
    assert name is not None
    assert isinstance(wrap(_wrapped(name), [torch.ones(2), torch.ones(2)]), TwoTensor)


def test_class_that_is_defined_again(monkeypatch: pytest.MonkeyPatch):
    """Catches a class that can't be found by its name for good, since a notebook's cell that defines it ran twice."""
    for _ in range(2):
        defined = type("Again", (TwoTensor,), {"__module__": __name__})
        monkeypatch.setitem(globals(), "Again", defined)
        assert class_name(defined) == f"{__name__}:Again"


def test_module_is_never_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Catches text that runs a Python file by naming it."""
    (tmp_path / "not_imported_yet.py").write_text("import torch\nclass Tensor(torch.Tensor): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleError, match="expected a tensor subclass of a module that is imported already"):
        wrap(_wrapped("not_imported_yet:Tensor"), [torch.ones(2), torch.ones(2)])
    assert "not_imported_yet" not in sys.modules


@pytest.mark.parametrize("name", ["os:system", "subprocess:Popen", "builtins:eval", "torch:Tensor", "torch:nn.Module"])
def test_what_wraps_no_tensors_is_refused(name: str):
    """Catches a function that is called, or an object that is made, because a text names it."""
    with pytest.raises(ModuleError, match=f"got '{name}'"):
        wrap(_wrapped(name), [torch.ones(2), torch.ones(2)])
