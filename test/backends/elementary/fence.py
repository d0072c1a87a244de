# RUN: %python %s | FileCheck %s
"""Catches a large transposition that a loop reads by single elements, and a small one that runs by itself."""

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
