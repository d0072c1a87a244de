# RUN: %python %s | FileCheck %s
"""Catches numbers of bfloat16 that an op takes unrounded, and loops where they are only picked and stored.

And whole numbers that MLIR converts to bfloat16 at once: rounded once, and by a function that is not linked.
"""

from dovetail.backends.elementary.expand import with_own_functions

COPY = "%none, %none, %none, %false, %none"
TYPES = "!torch.none, !torch.none, !torch.none, !torch.bool, !torch.none"
TEXT = f"""
!i = !torch.vtensor<[4,3],si8>
!v = !torch.vtensor<[4,3],f32>
!h = !torch.vtensor<[4,3],bf16>
!m = !torch.vtensor<[4,1],bf16>
func.func @computed_with(%x: !h) -> (!h, !h) {{
  %one = torch.constant.int 1
  %true = torch.constant.bool true
  %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
  %0 = torch.aten.mul.Tensor %x, %x : !h, !h -> !h
  %1 = torch.aten.amax %0, %dims, %true : !h, !torch.list<int>, !torch.bool -> !m
  %2 = torch.aten.sub.Tensor %0, %1, %one : !h, !m, !torch.int -> !h
  return %0, %2 : !h, !h
}}
func.func @passed_on(%x: !h) -> (!h, !h) {{
  %0 = torch.aten.mul.Tensor %x, %x : !h, !h -> !h
  %1 = torch.aten.neg %0 : !h -> !h
  %2 = torch.aten.relu %1 : !h -> !h
  %3 = torch.aten.exp %2 : !h -> !h
  return %1, %3 : !h, !h
}}
func.func @stored(%x: !h) -> (!h, !h) {{
  %0 = torch.aten.mul.Tensor %x, %x : !h, !h -> !h
  %1 = torch.aten.relu %0 : !h -> !h
  return %0, %1 : !h, !h
}}
func.func @whole(%x: !i, %y: !v) -> (!h, !h) {{
  %bfloat16 = torch.constant.int 15
  %float32 = torch.constant.int 6
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.aten._to_copy %x, %float32, {COPY} : !i, !torch.int, {TYPES} -> !v
  %1 = torch.aten._to_copy %0, %bfloat16, {COPY} : !v, !torch.int, {TYPES} -> !h
  %2 = torch.aten._to_copy %y, %bfloat16, {COPY} : !v, !torch.int, {TYPES} -> !h
  return %1, %2 : !h, !h
}}
"""

# CHECK-LABEL: func.func @computed_with(
# CHECK:         %[[PRODUCT:.*]] = torch.aten.mul.Tensor
# CHECK-NEXT:    "torch_c.to_builtin_tensor"(%[[PRODUCT]])
# CHECK:         linalg.generic
# CHECK-NEXT:    ^bb0(%[[IN:.*]]: bf16, %{{.*}}: bf16):
# CHECK-NEXT:      %[[NUMBER:.*]] = arith.extf %[[IN]] : bf16 to f32
# CHECK-NEXT:      arith.bitcast %[[NUMBER]] : f32 to i32
# CHECK:           %[[NEAREST:.*]] = arith.bitcast %{{.*}} : i32 to f32
# CHECK:           arith.select %{{.*}}, %[[NEAREST]], %[[NUMBER]]
# CHECK:         %[[ROUNDED:.*]] = "torch_c.from_builtin_tensor"
# CHECK:         %[[LARGEST:.*]] = torch.aten.amax %[[ROUNDED]],
# CHECK-NEXT:    torch.aten.sub.Tensor %[[ROUNDED]], %[[LARGEST]],
# CHECK-LABEL: func.func @passed_on(
# CHECK:         linalg.generic
# CHECK:         %[[ROUNDED:.*]] = "torch_c.from_builtin_tensor"
# CHECK:         torch.aten.neg %[[ROUNDED]]
# CHECK-NEXT:    torch.aten.relu
# CHECK-LABEL: func.func @stored(
# CHECK-NOT:     linalg.generic
# CHECK-LABEL: func.func @whole(
# CHECK-SAME:    %{{.*}}, %[[Y:.*]]: !torch.vtensor<[4,3],f32>)
# CHECK:         %[[SINGLE:.*]] = torch.aten._to_copy
# CHECK:         "torch_c.to_builtin_tensor"(%[[SINGLE]])
# CHECK:         linalg.generic
# CHECK:           arith.andi
# CHECK:         %[[ROUNDED:.*]] = "torch_c.from_builtin_tensor"
# CHECK:         torch.aten._to_copy %[[ROUNDED]],
# CHECK-NOT:     linalg.generic
# CHECK:         torch.aten._to_copy %[[Y]],
print(with_own_functions(TEXT))
