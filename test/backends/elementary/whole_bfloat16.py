# RUN: %python %s | FileCheck %s
"""Catches whole numbers that MLIR converts to bfloat16 at once: rounded once, and by a function that is not linked."""

from dovetail.backends.elementary.expand import with_own_functions

TEXT = """
!i = !torch.vtensor<[4,3],si8>
!v = !torch.vtensor<[4,3],f32>
!h = !torch.vtensor<[4,3],bf16>
func.func @whole(%x: !i, %y: !v) -> (!h, !h) {
  %bfloat16 = torch.constant.int 15
  %float32 = torch.constant.int 6
  %none = torch.constant.none
  %false = torch.constant.bool false
  %0 = torch.aten._to_copy %x, %float32, %none, %none, %none, %false, %none
    : !i, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
  %1 = torch.aten._to_copy %0, %bfloat16, %none, %none, %none, %false, %none
    : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !h
  %2 = torch.aten._to_copy %y, %bfloat16, %none, %none, %none, %false, %none
    : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !h
  return %1, %2 : !h, !h
}
"""

# CHECK:         func.func @whole(%{{.*}}, %[[Y:.*]]: !torch.vtensor<[4,3],f32>)
# CHECK:         %[[SINGLE:.*]] = torch.aten._to_copy
# CHECK:         "torch_c.to_builtin_tensor"(%[[SINGLE]])
# CHECK:         linalg.generic
# CHECK:           arith.andi
# CHECK:         %[[ROUNDED:.*]] = "torch_c.from_builtin_tensor"
# CHECK:         torch.aten._to_copy %[[ROUNDED]],
# CHECK-NOT:     linalg.generic
# CHECK:         torch.aten._to_copy %[[Y]],
print(with_own_functions(TEXT))
