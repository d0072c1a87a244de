# RUN: %python %s | FileCheck %s
"""Catches a large tensor that is stored since it is taken before and behind a sum of columns.

Also one that is computed again where that costs more, or where its bits may differ.
"""

from dovetail.backends.elementary.expand import with_own_functions

TEXT = """
!x = !torch.vtensor<[{rows},256],f32>
!c = !torch.vtensor<[256],f32>
func.func @{name}(%x: !x, %c: !c) -> !x {{
  %zero = torch.constant.int {dim}
  %one = torch.constant.int 1
  %false = torch.constant.bool false
  %none = torch.constant.none
  %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %less = torch.aten.sub.Tensor %x, %c, %one : !x, !c, !torch.int -> !x
  %0 = torch.aten.{op} %less : !x -> !x
  %1 = torch.aten.sum.dim_IntList %0, %dims, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !c
  %2 = torch.aten.sqrt %1 : !c -> !c
  %3 = torch.aten.mul.Tensor %0, %2 : !x, !c -> !x
  return %3 : !x
}}
"""

# COM: Of the argument behind a fence, by the same ops; the root of the sums is computed once, not for each element.
# CHECK-LABEL: func.func @large(
# CHECK-SAME:    %[[X:.*]]: !torch.vtensor<[512,256],f32>, %[[C:.*]]: !torch.vtensor<[256],f32>
# CHECK:         %[[LESS:.*]] = torch.aten.sub.Tensor %[[X]], %[[C]]
# CHECK:         %[[RELU:.*]] = torch.aten.relu %[[LESS]]
# CHECK:         %[[SUM:.*]] = torch.aten.sum.dim_IntList %[[RELU]]
# CHECK:         %[[ROOT:.*]] = torch.aten.sqrt %[[SUM]]
# CHECK:         %[[ELEMENTS:.*]] = "torch_c.to_builtin_tensor"(%[[X]])
# CHECK:         %[[FENCE:.*]] = "iree_tensor_ext.compute_barrier.end"(%[[ELEMENTS]])
# CHECK:         %[[SAME:.*]] = "torch_c.from_builtin_tensor"(%[[FENCE]])
# CHECK:         %[[LESS_AGAIN:.*]] = torch.aten.sub.Tensor %[[SAME]], %[[C]]
# CHECK:         %[[AGAIN:.*]] = torch.aten.relu %[[LESS_AGAIN]]
# CHECK:         %[[ROOTS:.*]] = "torch_c.to_builtin_tensor"(%[[ROOT]])
# CHECK:         %[[ONCE:.*]] = "iree_tensor_ext.compute_barrier.end"(%[[ROOTS]])
# CHECK:         %[[APART:.*]] = "torch_c.from_builtin_tensor"(%[[ONCE]])
# CHECK:         torch.aten.mul.Tensor %[[AGAIN]], %[[APART]]
print(with_own_functions(TEXT.format(name="large", rows=512, dim=0, op="relu")))

# COM: Of a function, another loop may round the last bit otherwise.
# CHECK-LABEL: func.func @function(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(TEXT.format(name="function", rows=512, dim=0, op="reciprocal").replace("reciprocal", "rsqrt")))

# COM: Memory so small stays near, and rows do until their sum is known.
# CHECK-LABEL: func.func @small(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(TEXT.format(name="small", rows=128, dim=0, op="relu")))

# CHECK-LABEL: func.func @rows(
# CHECK-NOT:     compute_barrier
# CHECK:         return
rows = TEXT.format(name="rows", rows=512, dim=1, op="relu").replace(
    "!c = !torch.vtensor<[256]", "!c = !torch.vtensor<[1,256]"
)
print(with_own_functions(rows))

# COM: How large a tensor of open sizes is, nobody says.
# CHECK-LABEL: func.func @open(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(TEXT.format(name="open", rows="?", dim=0, op="relu")))

MANY = """
!x = !torch.vtensor<[512,256],f32>
!c = !torch.vtensor<[256],f32>
func.func @many(%x: !x, %y: !x, %z: !x) -> !x {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %false = torch.constant.bool false
  %none = torch.constant.none
  %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.add.Tensor %x, %y, %one : !x, !x, !torch.int -> !x
  %1 = torch.aten.add.Tensor %0, %z, %one : !x, !x, !torch.int -> !x
  %2 = torch.aten.sum.dim_IntList %1, %dims, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !c
  %3 = torch.aten.mul.Tensor %1, %2 : !x, !c -> !x
  return %3 : !x
}
"""

# COM: Three tensors would be read where one is written and read.
# CHECK-LABEL: func.func @many(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(MANY))
