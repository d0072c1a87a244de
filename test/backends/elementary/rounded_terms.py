# RUN: %python %s | FileCheck %s
"""Catches a difference of unrounded products, and loops where the terms are rounded as they are."""

from dovetail.backends.elementary.expand import with_own_functions

TEXT = """
!v = !torch.vtensor<[4,3],f32>
!m = !torch.vtensor<[4,1],f32>
!h = !torch.vtensor<[4],f16>
func.func @products(%x: !v, %y: !v) -> !v {
  %one = torch.constant.int 1
  %0 = torch.aten.mul.Tensor %x, %x : !v, !v -> !v
  %1 = torch.aten.square %y : !v -> !v
  %2 = torch.aten.neg %1 : !v -> !v
  %3 = torch.aten.add.Tensor %0, %2, %one : !v, !v, !torch.int -> !v
  return %3 : !v
}
func.func @half_precision(%x: !h) -> !h {
  %one = torch.constant.int 1
  %0 = torch.aten.square %x : !h -> !h
  %1 = torch.aten.sub.Tensor %0, %x, %one : !h, !h, !torch.int -> !h
  return %1 : !h
}
func.func @rounded(%x: !v, %largest: !m) -> !v {
  %one = torch.constant.int 1
  %0 = torch.aten.sub.Tensor %x, %largest, %one : !v, !m, !torch.int -> !v
  %1 = torch.aten.div.Tensor %0, %x : !v, !v -> !v
  %2 = torch.aten.add.Tensor %1, %0, %one : !v, !v, !torch.int -> !v
  return %2 : !v
}
"""

# CHECK-LABEL: func.func @products(
# CHECK:         %[[PRODUCT:.*]] = torch.aten.mul.Tensor
# CHECK:         %[[SQUARE:.*]] = torch.aten.square
# CHECK:         %[[NEGATED:.*]] = torch.aten.neg %[[SQUARE]]
# CHECK:         "torch_c.to_builtin_tensor"(%[[PRODUCT]])
# CHECK:         linalg.generic
# CHECK:           %[[BITS:.*]] = arith.bitcast %{{.*}} : f32 to i32
# CHECK:           %[[BOUND:.*]] = arith.constant 2147483646 : i32
# CHECK-NEXT:      %[[SAME:.*]] = arith.minsi %[[BITS]], %[[BOUND]]
# CHECK-NEXT:      %[[NUMBER:.*]] = arith.bitcast %[[SAME]] : i32 to f32
# CHECK-NEXT:      linalg.yield %[[NUMBER]]
# CHECK:         %[[FIRST:.*]] = "torch_c.from_builtin_tensor"
# CHECK:         "torch_c.to_builtin_tensor"(%[[NEGATED]])
# CHECK:         %[[SECOND:.*]] = "torch_c.from_builtin_tensor"
# CHECK:         torch.aten.add.Tensor %[[FIRST]], %[[SECOND]],
# CHECK-LABEL: func.func @half_precision(
# CHECK:         linalg.generic
# CHECK:           %[[WIDE:.*]] = arith.extf %{{.*}} : f16 to f32
# CHECK-NEXT:      arith.bitcast %[[WIDE]] : f32 to i32
# CHECK:           arith.minsi
# CHECK:           %[[NARROW:.*]] = arith.truncf %{{.*}} : f32 to f16
# CHECK-NEXT:      linalg.yield %[[NARROW]]
# CHECK:         %[[TERM:.*]] = "torch_c.from_builtin_tensor"
# CHECK:         torch.aten.sub.Tensor %[[TERM]],
# CHECK-LABEL: func.func @rounded(
# CHECK-NOT:     linalg.generic
# CHECK:         torch.aten.add.Tensor
print(with_own_functions(TEXT))
