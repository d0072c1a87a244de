# RUN: %python %s | FileCheck %s
"""Catches a function that is computed once for the sum of its rows and once for others, or a sum of another type."""

from dovetail.backends.elementary.expand import with_own_functions

TEXT = """
!v = !torch.vtensor<[2,3],f32>
!r = !torch.vtensor<[2,1],f32>
!d = !torch.vtensor<[2,1],f64>
!c = !torch.vtensor<[1,3],f32>
func.func @softmax(%x: !v) -> (!v, !r) {
  %one = torch.constant.int 1
  %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.exp %x : !v -> !v
  %1 = torch.aten.sum.dim_IntList %0, %dims, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !r
  return %0, %1 : !v, !r
}
func.func @wide(%x: !v) -> (!v, !d) {
  %one = torch.constant.int 1
  %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %double = torch.constant.int 7
  %0 = torch.aten.exp %x : !v -> !v
  %1 = torch.aten.sum.dim_IntList %0, %dims, %true, %double : !v, !torch.list<int>, !torch.bool, !torch.int -> !d
  return %0, %1 : !v, !d
}
func.func @sum_alone(%x: !v) -> !r {
  %one = torch.constant.int 1
  %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.exp %x : !v -> !v
  %1 = torch.aten.sum.dim_IntList %0, %dims, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !r
  return %1 : !r
}
func.func @columns(%x: !v) -> (!v, !c) {
  %zero = torch.constant.int 0
  %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.exp %x : !v -> !v
  %1 = torch.aten.sum.dim_IntList %0, %dims, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !c
  return %0, %1 : !v, !c
}
"""

# CHECK-LABEL: func.func @softmax(
# CHECK:         %[[BOTH:.*]]:2 = linalg.generic {{.*}}iterator_types = ["parallel", "reduction"]
# CHECK:           linalg.yield %[[E:.*]], %{{.*}} : f32, f32
# CHECK:         %[[ROWS:.*]] = tensor.expand_shape %[[BOTH]]#1
# CHECK-DAG:     %[[VALUE:.*]] = "torch_c.from_builtin_tensor"(%[[BOTH]]#0)
# CHECK-DAG:     %[[SUM:.*]] = "torch_c.from_builtin_tensor"(%[[ROWS]])
# CHECK-NOT:     torch.aten.sum
# CHECK:         return %[[VALUE]], %[[SUM]]
# CHECK-LABEL: func.func @wide(
# CHECK:           arith.extf %{{.*}} : f32 to f64
# CHECK:           linalg.yield %{{.*}}, %{{.*}} : f32, f64
# CHECK-LABEL: func.func @sum_alone(
# CHECK:         torch.aten.sum.dim_IntList
# CHECK-LABEL: func.func @columns(
# CHECK:         torch.aten.sum.dim_IntList
print(with_own_functions(TEXT))
