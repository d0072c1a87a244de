"""Operators by name: what PyTorch has registered, and nothing else that `torch.ops` leads to."""

import pytest
import torch

from dovetail.backends.python.emitter import Emitter
from dovetail.backends.python.operators import overload
from dovetail.dialects.context import make_context, parse_module
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


UNFIT = """
!v = !torch.vtensor<[2],f32>
func.func @f(%x: !v, %m: !torch.tensor<[2],f32>) {
  torch.operator "torch.aten.clamp.Tensor"(%x, %x, %m) {dovetail.reason = ""} : (!v, !v, !torch.tensor<[2],f32>) -> ()
  return
}
"""


def test_memory_that_no_kernel_writes_to_is_refused():
    """Catches a call whose memory for the result is taken for one more operand, a bound: nothing is written."""
    module = parse_module(UNFIT, make_context())
    with pytest.raises(ModuleError, match=r"aten\.clamp\.Tensor has no overload 'out', which writes to memory"):
        Emitter(module.body.operations[0], {}).emit()
