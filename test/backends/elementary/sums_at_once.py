# RUN: %python %s | FileCheck %s
"""Catches sums of columns that go over the same tensors one after the other.

Also sums that are made one loop though one is of the other, or of tensors that have nothing in common; and those that
go over them one after the other since a third one can't be joined.
"""

from dovetail.backends.elementary.expand import with_own_functions

TEXT = """
!x = !torch.vtensor<[{rows},256],f32>
!c = !torch.vtensor<[256],f32>
func.func @{name}(%x: !x, %y: !x, %z: !x) -> (!c, !c) {{
  %zero = torch.constant.int 0
  %false = torch.constant.bool false
  %none = torch.constant.none
  %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.sum.dim_IntList %x, %dims, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !c
  %1 = torch.aten.relu %0 : !c -> !c
  %2 = torch.aten.mul.Tensor {first}, {second} : !x, {type} -> !x
  %3 = torch.aten.sum.dim_IntList %2, %dims, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !c
  return %1, %3 : !c, !c
}}
"""

# COM: What the second sum is of goes before the first, what the first is for stays behind it.
# CHECK-LABEL: func.func @same(
# CHECK-SAME:    %[[X:.*]]: !torch.vtensor<[512,256],f32>, %[[Y:.*]]: !torch.vtensor<[512,256],f32>,
# CHECK:         %[[PRODUCT:.*]] = torch.aten.mul.Tensor %[[X]], %[[Y]]
# CHECK:         %[[FIRST:.*]] = "torch_c.to_builtin_tensor"(%[[X]])
# CHECK:         %[[BOTH:.*]]:2 = linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]}
# CHECK-SAME:      ins(%[[FIRST]], %{{.*}} : tensor<512x256xf32>, tensor<512x256xf32>)
# CHECK-SAME:      outs(%{{.*}}, %{{.*}} : tensor<256xf32>, tensor<256xf32>)
# CHECK:         %[[ONE:.*]] = "torch_c.from_builtin_tensor"(%[[BOTH]]#0)
# CHECK:         %[[OTHER:.*]] = "torch_c.from_builtin_tensor"(%[[BOTH]]#1)
# CHECK-NOT:     torch.aten.sum
# CHECK:         %[[RELU:.*]] = torch.aten.relu %[[ONE]]
# CHECK:         return %[[RELU]], %[[OTHER]]
both = {"first": "%x", "second": "%y", "type": "!x"}
print(with_own_functions(TEXT.format(name="same", rows=512, **both)))

# CHECK-LABEL: func.func @behind(
# CHECK-COUNT-2: torch.aten.sum
# CHECK:         return
print(with_own_functions(TEXT.format(name="behind", rows=512, first="%x", second="%1", type="!c")))

# CHECK-LABEL: func.func @others(
# CHECK-COUNT-2: torch.aten.sum
# CHECK:         return
print(with_own_functions(TEXT.format(name="others", rows=512, first="%y", second="%z", type="!x")))

# CHECK-LABEL: func.func @small(
# CHECK-COUNT-2: torch.aten.sum
# CHECK:         return
print(with_own_functions(TEXT.format(name="small", rows=128, **both)))

# CHECK-LABEL: func.func @open(
# CHECK-COUNT-2: torch.aten.sum
# CHECK:         return
print(with_own_functions(TEXT.format(name="open", rows="?", **both)))

# COM: Blocks are of one sum.
# CHECK-LABEL: func.func @by_blocks(
# CHECK-COUNT-2: torch.aten.sum
# CHECK:         return
print(with_own_functions(TEXT.format(name="by_blocks", rows=512, **both), by_blocks=True))

# CHECK-LABEL: func.func @some(
# CHECK-SAME:    %[[X:.*]]: !torch.vtensor<[512,256],f32>, %[[Y:.*]]: !torch.vtensor<[512,256],f32>,
# CHECK:         torch.aten.mul.Tensor %[[X]], %[[Y]]
# CHECK:         %[[BOTH:.*]]:2 = linalg.generic
# CHECK:         %[[ONE:.*]] = "torch_c.from_builtin_tensor"(%[[BOTH]]#0)
# CHECK:         %[[OTHER:.*]] = "torch_c.from_builtin_tensor"(%[[BOTH]]#1)
# CHECK:         %[[RELU:.*]] = torch.aten.relu %[[ONE]]
# CHECK:         torch.aten.mul.Tensor %[[X]], %[[RELU]]
# CHECK:         %[[BEHIND:.*]] = torch.aten.sum
# CHECK-NOT:     torch.aten.sum
# CHECK:         return %[[BEHIND]], %[[OTHER]]
three = TEXT.format(name="some", rows=512, first="%x", second="%1", type="!c")
third = """  %4 = torch.aten.mul.Tensor %x, %y : !x, !x -> !x
  %5 = torch.aten.sum.dim_IntList %4, %dims, %false, %none : !x, !torch.list<int>, !torch.bool, !torch.none -> !c
  return %3, %5"""
print(with_own_functions(three.replace("  return %1, %3", third)))
