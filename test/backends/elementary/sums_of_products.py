# RUN: %python %s | FileCheck %s
"""Catches a sum of products that are unrolled or unrounded, as one contraction, and one of matrices kept from it."""

from dovetail.backends.elementary.expand import with_own_functions

SUM = "!torch.list<int>, !torch.bool, !torch.none"
TEXT = f"""
!v = !torch.vtensor<[4,3],f64>
!c = !torch.vtensor<[4,1],f64>
!r = !torch.vtensor<[3],f64>
!i = !torch.vtensor<[4,3],si64>
!ir = !torch.vtensor<[3],si64>
func.func @columns(%x: !v, %y: !v) -> !r {{
  %zero = torch.constant.int 0
  %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.mul.Tensor %x, %y : !v, !v -> !v
  %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none : !v, {SUM} -> !r
  return %1 : !r
}}
func.func @through_a_view(%x: !v, %y: !v) -> !torch.vtensor<[2,3],f64> {{
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %three = torch.constant.int 3
  %sizes = torch.prim.ListConstruct %two, %two, %three : (!torch.int, !torch.int, !torch.int) -> !torch.list<int>
  %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.mul.Tensor %x, %y : !v, !v -> !v
  %1 = torch.aten.reshape %0, %sizes : !v, !torch.list<int> -> !torch.vtensor<[2,2,3],f64>
  %2 = torch.aten.mean.dim %1, %dims, %false, %none : !torch.vtensor<[2,2,3],f64>, {SUM} -> !torch.vtensor<[2,3],f64>
  return %2 : !torch.vtensor<[2,3],f64>
}}
func.func @product_of_matrices(%x: !v, %y: !c) -> !r {{
  %zero = torch.constant.int 0
  %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.mul.Tensor %x, %y : !v, !c -> !v
  %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none : !v, {SUM} -> !r
  return %1 : !r
}}
func.func @whole_numbers(%x: !i, %y: !i) -> !ir {{
  %zero = torch.constant.int 0
  %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.mul.Tensor %x, %y : !i, !i -> !i
  %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none : !i, {SUM} -> !ir
  return %1 : !ir
}}
"""

# CHECK-LABEL: func.func @columns(
# CHECK:         %[[PRODUCT:.*]] = torch.aten.mul.Tensor
# CHECK:         %[[IN:.*]] = "torch_c.to_builtin_tensor"(%[[PRODUCT]]) : (!torch.vtensor<[4,3],f64>) -> tensor<4x3xf64>
# CHECK:         %[[LOOP:.*]] = linalg.generic {{.*}} ins(%[[IN]] : tensor<4x3xf64>)
# CHECK:           arith.minsi
# CHECK:           %[[SAME:.*]] = arith.bitcast %{{.*}} : i64 to f64
# CHECK:           linalg.yield %[[SAME]] : f64
# CHECK:         %[[APART:.*]] = "torch_c.from_builtin_tensor"(%[[LOOP]])
# CHECK:         torch.aten.sum.dim_IntList %[[APART]],
# CHECK-LABEL: func.func @through_a_view(
# CHECK:         %[[VIEW:.*]] = torch.aten.reshape
# CHECK:         "torch_c.to_builtin_tensor"(%[[VIEW]])
# CHECK:         torch.aten.mean.dim
# CHECK-LABEL: func.func @product_of_matrices(
# CHECK-NOT:     linalg.generic
# CHECK-LABEL: func.func @whole_numbers(
# CHECK-NOT:     linalg.generic
print(with_own_functions(TEXT))
