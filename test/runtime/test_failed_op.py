"""An error of ATen's is said of the op that it comes out of."""

import pytest

from dovetail.dialects.context import make_context, parse_module
from dovetail.errors import ModuleError
from dovetail.runtime.reference.drawn_inputs import random_inputs
from dovetail.runtime.reference.executor import run_reference

TEXT = """
!v = !torch.vtensor<[4],f32>
!m = !torch.tensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
module attributes {dovetail.level = "program"} {
  func.func @call(%x: !r, %y: !r) -> !r attributes {dovetail.role = "call"} {
    call @guard(%x, %y) : (!r, !r) -> ()
    %0:2 = call @forward(%x, %y) : (!r, !r) -> (!r, !r)
    "dovetail.write"(%0#0, %x) {dovetail.in_place = "pointwise", mode = "no_grad"} : (!r, !r) -> ()
    return %0#1 : !r
  }
  func.func private @guard(!r {dovetail.name = "x"}, !r {dovetail.name = "y"})
    attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  func.func @forward(%x: !r, %y: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v
    %d = "dovetail.destination"(%x) {proof = "pointwise"} : (!r) -> !m
    call @update(%1, %d) : (!v, !m) -> ()
    %2 = torch.copy.to_vtensor %d : !v
    %3 = torch.operator "torch.aten.mm"(%1, %1) : (!v, !v) -> !v
    %4 = torch.operator "torch.aten.relu"(%3) : (!v) -> !v
    %o = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  func.func private @update(%y: !v, %d: !m) attributes {dovetail.role = "region"} {
    %0 = torch.copy.to_vtensor %d : !v
    %1 = torch.aten.mul.Tensor %0, %y : !v, !v -> !v
    torch.overwrite.tensor.contents %1 overwrites %d : !v, !m
    return
  }
}
"""


def test_op_below_an_update_in_place():
    """Catches another op's line in the message: what copies the inputs of updates first is a statement, too."""
    module = parse_module(TEXT, make_context())
    line = 1 + TEXT[: TEXT.index('"torch.aten.mm"')].count("\n")
    with pytest.raises(ModuleError, match=rf":{line}:\d+.* op can't be run: self must be a matrix"):
        run_reference(module, random_inputs(module))
