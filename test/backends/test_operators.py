"""Operators by name: what PyTorch has registered, and nothing else that `torch.ops` leads to."""

import pytest
import torch

from dovetail.backends.python.operators import overload
from dovetail.errors import ModuleError


def test_registered_operators_are_found():
    """Catches a lookup that takes the default overload for another, or misses a custom operator."""
    assert overload("aten.add.Tensor") is torch.ops.aten.add.Tensor
    assert overload("aten.mm.default") is torch.ops.aten.mm.default
    assert overload("prims.broadcast_in_dim.default") is torch.ops.prims.broadcast_in_dim.default
    with torch.library._scoped_library("found_by_name", "FRAGMENT") as library:
        library.define("twice(Tensor x) -> Tensor")
        assert overload("found_by_name.twice.default") is torch.ops.found_by_name.twice.default


@pytest.mark.parametrize(
    "name",
    [
        "load_library.x.y",
        "loaded_libraries.add.x",
        "__class__.x.default",
        "aten.__class__.default",
        "aten.add.__call__",
        "aten.add.Tensor.junk",
        "aten.save.default",  # TorchScript's: writes a file
        "aten.no_such_op.default",
        "aten.add.default\n",
        "aten.add",
        "..",
        "",
    ],
)
def test_nothing_else_is_found(name: str):
    """Catches a chain of attributes that text of a module walks along."""
    with pytest.raises(ModuleError) as caught:
        overload(name)
    assert str(caught.value) == f"PyTorch {torch.__version__} has no operator {name!r}"
