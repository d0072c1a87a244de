# RUN: %python %s | FileCheck %s
"""Catches a large transposition that a loop reads by single elements, and one that runs by itself without need.

Also an extremum of open sizes that a loop finds anew for each vector, and one that runs by itself where rows are near.
"""

from dovetail.backends.elementary.expand import with_own_functions

TEXT = """
!x = !torch.vtensor<[{rows},256],{type}>
!y = !torch.vtensor<[256,{rows}],{type}>
func.func @{name}(%x: !x, %y: !y) -> !y {{
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
  %0 = torch.aten.permute %x, %order : !x, !torch.list<int> -> !y
  %1 = torch.aten.add.Tensor %0, %y, %one : !y, !y, !torch.int -> !y
  return %1 : !y
}}
"""

# CHECK-LABEL: func.func @large(
# CHECK:         %[[TURNED:.*]] = torch.aten.permute
# CHECK:         %[[ELEMENTS:.*]] = "torch_c.to_builtin_tensor"(%[[TURNED]]) : {{.*}} -> tensor<256x512xf32>
# CHECK:         %[[FENCE:.*]] = "iree_tensor_ext.compute_barrier.end"(%[[ELEMENTS]])
# CHECK:         %[[FENCED:.*]] = "torch_c.from_builtin_tensor"(%[[FENCE]])
# CHECK:         torch.aten.add.Tensor %[[FENCED]]
print(with_own_functions(TEXT.format(name="large", rows=512, type="f32")))

# CHECK-LABEL: func.func @double(
# CHECK:         tensor<256x512xf64>
print(with_own_functions(TEXT.format(name="double", rows=512, type="f64")))

# CHECK-LABEL: func.func @small(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(TEXT.format(name="small", rows=128, type="f32")))

# CHECK-LABEL: func.func @few_rows(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(TEXT.format(name="few_rows", rows=8, type="f32").replace("256", "32768")))

# CHECK-LABEL: func.func @half(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(TEXT.format(name="half", rows=512, type="bf16")))

# CHECK-LABEL: func.func @by_blocks(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(TEXT.format(name="by_blocks", rows=512, type="f32"), by_blocks=True))

ROWS = """
!x = !torch.vtensor<[?,{length}],f32>
!m = !torch.vtensor<[?,1],f32>
func.func @{name}(%x: !x) -> !x {{
  %one = torch.constant.int 1
  %true = torch.constant.bool true
  %none = torch.constant.none
  %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.amax %x, %dims, %true : !x, !torch.list<int>, !torch.bool -> !m
  %1 = torch.aten.sub.Tensor %x, %0, %one : !x, !m, !torch.int -> !x
  %2 = torch.aten.sum.dim_IntList %x, %dims, %true, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !m
  %3 = torch.aten.mul.Tensor %1, %2 : !x, !m -> !x
  return %3 : !x
}}
"""

# CHECK-LABEL: func.func @open_rows(
# CHECK:         %[[LARGEST:.*]] = torch.aten.amax
# CHECK:         %[[ELEMENTS:.*]] = "torch_c.to_builtin_tensor"(%[[LARGEST]]) : {{.*}} -> tensor<?x1xf32>
# CHECK:         %[[FENCE:.*]] = "iree_tensor_ext.compute_barrier.end"(%[[ELEMENTS]], %{{.*}})
# CHECK:         %[[FENCED:.*]] = "torch_c.from_builtin_tensor"(%[[FENCE]])
# CHECK:         torch.aten.sub.Tensor %{{.*}}, %[[FENCED]]
# CHECK-NOT:     compute_barrier
print(with_own_functions(ROWS.format(name="open_rows", length=1000)))

# CHECK-LABEL: func.func @near_rows(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(ROWS.format(name="near_rows", length=256)))

# CHECK-LABEL: func.func @known_rows(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(ROWS.format(name="known_rows", length=1000).replace("?", "1024")))

# CHECK-LABEL: func.func @known_length(
# CHECK:         compute_barrier
print(with_own_functions(ROWS.format(name="known_length", length=1000), by_blocks=True))

# CHECK-LABEL: func.func @open_length(
# CHECK-NOT:     compute_barrier
# CHECK:         return
print(with_own_functions(ROWS.format(name="open_length", length="?"), by_blocks=True))

# CHECK-LABEL: func.func @open_columns(
# CHECK:         compute_barrier
columns = ROWS.format(name="open_columns", length="?").replace("constant.int 1", "constant.int 0")
print(with_own_functions(columns.replace("[?,1]", "[1,?]"), by_blocks=True))
