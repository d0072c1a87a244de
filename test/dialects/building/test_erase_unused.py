"""What is erased, and in which order."""

from torch_mlir import ir

from dovetail.dialects.building.cloning import erase_unused
from dovetail.dialects.context import make_context, parse_module
from dovetail.dialects.reading import Module, body
from dovetail.dialects.torch_facts.ops import Kind

TEXT = """
!v = !torch.vtensor<[2],f32>
module attributes {dovetail.level = "split"} {
  func.func @forward(%x: !v) -> !v attributes {dovetail.role = "forward"} {
    %one = torch.constant.int 1
    %kept = torch.aten.exp %x : !v -> !v
    %0 = torch.aten.neg %kept : !v -> !v
    %1 = torch.aten.relu %0 : !v -> !v
    %2 = torch.aten.mul.Tensor %1, %0 : !v, !v -> !v
    %3 = torch.aten.add.Tensor %2, %0, %one : !v, !v, !torch.int -> !v
    return %kept : !v
  }
}
"""


def test_each_op_is_erased_once():
    """An operand that another one is computed from was erased with that one, and then asked again: the process died."""
    module = parse_module(TEXT, make_context())
    with module.context, ir.Location.unknown():
        erase_unused(body(Module(module).forward)[-2].results[0], (Kind.POINTWISE,))
        left = [op.name for op in body(Module(module).forward)]
    assert left == ["torch.constant.int", "torch.aten.exp", "func.return"]
