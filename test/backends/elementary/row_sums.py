# RUN: %python %s | FileCheck %s
"""Catches a function that is computed once for the sum of its rows and once for others, or a sum of another type.

And rows that do not fit on the stack, or that IREE makes bad code of, in one loop.
"""

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

# The sums of the rows of a matrix, without their last dimension, beside the matrix.
ROWS = """
func.func @{name}(%x: !torch.vtensor<{shape},f32>) -> (!torch.vtensor<{shape},f32>, !torch.vtensor<{rows},f32>) {{
  %last = torch.constant.int -1
  %dims = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %false = torch.constant.bool false
  %none = torch.constant.none
  %0 = torch.aten.exp %x : !torch.vtensor<{shape},f32> -> !torch.vtensor<{shape},f32>
  %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none
    : !torch.vtensor<{shape},f32>, !torch.list<int>, !torch.bool, !torch.none -> !torch.vtensor<{rows},f32>
  return %0, %1 : !torch.vtensor<{shape},f32>, !torch.vtensor<{rows},f32>
}}
"""
MATRICES = {"dropped": (4, 4), "long": (2, 16384), "odd_tiles": (50, 5), "whole_vectors": (50, 64)}

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
# CHECK-LABEL: func.func @dropped(
# CHECK:         %[[BOTH:.*]]:2 = linalg.generic
# CHECK-NOT:     tensor.expand_shape
# CHECK:         %[[SUM:.*]] = "torch_c.from_builtin_tensor"(%[[BOTH]]#1) : (tensor<4xf32>)
# CHECK:         return %{{.*}}, %[[SUM]]
# CHECK-LABEL: func.func @long(
# CHECK:         torch.aten.sum.dim_IntList
# CHECK-LABEL: func.func @odd_tiles(
# CHECK:         torch.aten.sum.dim_IntList
# CHECK-LABEL: func.func @whole_vectors(
# CHECK-NOT:     torch.aten.sum.dim_IntList
# CHECK:         return
texts = [
    TEXT,
    *(
        ROWS.format(name=name, shape=f"[{sizes[0]},{sizes[1]}]", rows=f"[{sizes[0]}]")
        for name, sizes in MATRICES.items()
    ),
]
print(with_own_functions("".join(texts)))

# By twos, rows that vectors don't fill are kept, too: not of an odd number, too short or too long.
# CHECK-LABEL: func.func @even(
# CHECK-NOT:     torch.aten.sum.dim_IntList
# CHECK:         return
# CHECK-LABEL: func.func @short(
# CHECK:         torch.aten.sum.dim_IntList
# CHECK-LABEL: func.func @long_pair(
# CHECK:         torch.aten.sum.dim_IntList
PAIRS = {"even": (50, 300), "short": (50, 100), "long_pair": (50, 6200)}
paired = "".join(
    ROWS.format(name=name, shape=f"[{sizes[0]},{sizes[1]}]", rows=f"[{sizes[0]}]") for name, sizes in PAIRS.items()
)
print(with_own_functions(paired, rows_by_twos=True))

# By blocks, rows of some hundred numbers are kept, and those of open length whose quotients are stored: that is their
# memory until then. They are not where something else takes them, too, or stores them in another type.
ALIASES = """
!v = !torch.vtensor<[?,?],f32>
!r = !torch.vtensor<[?,1],f32>
"""
STORED = """
func.func @{name}(%x: !v, %into: !torch.tensor<[?,?],{type}>, %other: !torch.tensor<[?,?],f32>) {{
  %last = torch.constant.int -1
  %dims = torch.prim.ListConstruct %last : (!torch.int) -> !torch.list<int>
  %true = torch.constant.bool true
  %none = torch.constant.none
  %0 = torch.aten.exp %x : !v -> !v
  %1 = torch.aten.sum.dim_IntList %0, %dims, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !r
  %2 = torch.aten.{reader} %0, %1 : !v, !r -> !torch.vtensor<[?,?],{type}>
  torch.overwrite.tensor.contents %2 overwrites %into : !torch.vtensor<[?,?],{type}>, !torch.tensor<[?,?],{type}>
  {store}
  return
}}
"""
STORE = "torch.overwrite.tensor.contents %{value} overwrites %other : !v, !torch.tensor<[?,?],f32>"
# CHECK-LABEL: func.func @hundreds(
# CHECK-NOT:     torch.aten.sum.dim_IntList
# CHECK:         return
# CHECK-LABEL: func.func @thousands(
# CHECK:         torch.aten.sum.dim_IntList
# CHECK-LABEL: func.func @quotients(
# CHECK-NOT:     torch.aten.sum.dim_IntList
# CHECK:         return
# CHECK-LABEL: func.func @stored_itself(
# CHECK:         torch.aten.sum.dim_IntList
# CHECK-LABEL: func.func @stored_twice(
# CHECK:         torch.aten.sum.dim_IntList
# CHECK-LABEL: func.func @truths(
# CHECK:         torch.aten.sum.dim_IntList
single = [
    ROWS.format(name=name, shape=f"[50,{length}]", rows="[50]")
    for name, length in {"hundreds": 300, "thousands": 3001}.items()
]
single += [
    STORED.format(name="quotients", reader="div.Tensor", type="f32", store=""),
    STORED.format(name="stored_itself", reader="div.Tensor", type="f32", store=STORE.format(value=0)),
    STORED.format(name="stored_twice", reader="div.Tensor", type="f32", store=STORE.format(value=2)),
    STORED.format(name="truths", reader="gt.Tensor", type="i1", store=""),
]
print(with_own_functions(ALIASES + "".join(single), by_blocks=True))
