# RUN: %python %s | FileCheck %s
"""Catches a function that reaches IREE as torch's op, and float64 numbers that are computed in float32."""

from dovetail.backends.elementary.expand import with_own_functions

TEXT = """
!v = !torch.vtensor<[2,3],f32>
!h = !torch.vtensor<[2,3],bf16>
!i = !torch.vtensor<[2,3],si64>
!d = !torch.vtensor<[2,3],f64>
func.func @main(%x: !v, %h: !h, %i: !i, %d: !d) -> (!v, !h, !v, !d) {
  %0 = torch.aten.tanh %x : !v -> !v
  %1 = torch.aten.exp %h : !h -> !h
  %2 = torch.aten.log1p %i : !i -> !v
  %ceiling = torch.aten.ceil %d : !d -> !d
  %3 = torch.aten.log %ceiling : !d -> !d
  return %0, %1, %2, %3 : !v, !h, !v, !d
}
"""

# CHECK-LABEL: func.func @main(
# CHECK-SAME:    %[[X:.*]]: !torch.vtensor<[2,3],f32>,
# CHECK-SAME:    %[[H:.*]]: !torch.vtensor<[2,3],bf16>,
# CHECK-SAME:    %[[I:.*]]: !torch.vtensor<[2,3],si64>,
# CHECK-SAME:    %[[D:.*]]: !torch.vtensor<[2,3],f64>)
# CHECK:         %[[IN:.*]] = "torch_c.to_builtin_tensor"(%[[X]]) : (!torch.vtensor<[2,3],f32>) -> tensor<2x3xf32>
# CHECK:         %[[LOOP:.*]] = linalg.generic {{.*}} ins(%[[IN]] : tensor<2x3xf32>)
# CHECK:           math.copysign
# CHECK:           linalg.yield %{{.*}} : f32
# CHECK:         %[[OUT:.*]] = "torch_c.from_builtin_tensor"(%[[LOOP]])
# CHECK:         "torch_c.to_builtin_tensor"(%[[H]]) : (!torch.vtensor<[2,3],bf16>) -> tensor<2x3xbf16>
# CHECK:           arith.extf %{{.*}} : bf16 to f32
# CHECK:           arith.truncf %{{.*}} : f32 to bf16
# CHECK:         "torch_c.to_builtin_tensor"(%[[I]]) : (!torch.vtensor<[2,3],si64>) -> tensor<2x3xi64>
# CHECK:           arith.sitofp %{{.*}} : i64 to f32
# CHECK-NOT:     torch.aten.{{tanh|exp|log1p}}
# CHECK:           math.floor %{{.*}} : f64
# CHECK:         %[[CEILING:.*]] = "torch_c.from_builtin_tensor"
# CHECK:         %[[LOG:.*]] = torch.aten.log %[[CEILING]]
# CHECK:         return %[[OUT]], %{{.*}}, %{{.*}}, %[[LOG]] :
print(with_own_functions(TEXT))
