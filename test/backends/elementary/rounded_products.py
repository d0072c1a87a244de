# RUN: %python %s | FileCheck %s
"""Catches a scaled softmax that subtracts from an unrounded product, and a loop where nothing is a product."""

from dovetail.backends.elementary.expand import with_own_functions

TEXT = """
!v = !torch.vtensor<[4,3],f32>
!m = !torch.vtensor<[4,1],f32>
func.func @scaled(%x: !v, %scale: !torch.float, %largest: !m) -> !v {
  %one = torch.constant.int 1
  %0 = torch.aten.mul.Scalar %x, %scale : !v, !torch.float -> !v
  %1 = torch.aten.sub.Tensor %0, %largest, %one : !v, !m, !torch.int -> !v
  %2 = torch.aten.exp %1 : !v -> !v
  return %2 : !v
}
func.func @as_it_is(%x: !v, %largest: !m) -> !v {
  %one = torch.constant.int 1
  %0 = torch.aten.sub.Tensor %x, %largest, %one : !v, !m, !torch.int -> !v
  %1 = torch.aten.exp %0 : !v -> !v
  return %1 : !v
}
"""

# CHECK-LABEL: func.func @scaled(
# CHECK:         %[[PRODUCT:.*]] = torch.aten.mul.Scalar
# CHECK:         "torch_c.to_builtin_tensor"(%[[PRODUCT]])
# CHECK:         %[[LOOP:.*]] = linalg.generic
# CHECK:           arith.addf %{{.*}}, %cst{{.*}} : f32
# CHECK-NEXT:      linalg.yield
# CHECK:         %[[ROUNDED:.*]] = "torch_c.from_builtin_tensor"(%[[LOOP]])
# CHECK:         torch.aten.sub.Tensor %[[ROUNDED]],
# CHECK-LABEL: func.func @as_it_is(
# CHECK-NOT:     linalg.generic
# CHECK:         torch.aten.sub.Tensor %arg0,
print(with_own_functions(TEXT))
