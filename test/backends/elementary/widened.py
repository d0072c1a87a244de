# RUN: %python %s | FileCheck %s
"""Catches a function of half precision of which GPUs round each step, and conversions where nothing is half."""

from dovetail.backends.elementary.widened import with_wide_functions

TEXT = """
!v = !torch.vtensor<[2,3],f32>
!h = !torch.vtensor<[2,?],bf16>
!f = !torch.vtensor<[2,3],f16>
func.func @main(%v: !v, %h: !h, %f: !f) -> (!v, !h, !f) {
  %0 = torch.aten.sigmoid %v : !v -> !v
  %1 = torch.aten.sigmoid %h : !h -> !h
  %2 = torch.aten.sigmoid %f : !f -> !f
  return %0, %1, %2 : !v, !h, !f
}
"""

# CHECK-LABEL: func.func @main(
# CHECK-SAME:    %[[V:.*]]: !torch.vtensor<[2,3],f32>,
# CHECK-SAME:    %[[H:.*]]: !torch.vtensor<[2,?],bf16>,
# CHECK-SAME:    %[[F:.*]]: !torch.vtensor<[2,3],f16>)
# CHECK-NEXT:    torch.aten.sigmoid %[[V]] :
# CHECK-NEXT:    %[[FLOAT32:.*]] = torch.constant.int 6
# CHECK-NEXT:    %[[WIDE:.*]] = torch.prims.convert_element_type %[[H]], %[[FLOAT32]] :
# CHECK-NEXT:    %[[SIGMOID:.*]] = torch.aten.sigmoid %[[WIDE]] : !torch.vtensor<[2,?],f32>
# CHECK-NEXT:    %[[BFLOAT16:.*]] = torch.constant.int 15
# CHECK-NEXT:    torch.prims.convert_element_type %[[SIGMOID]], %[[BFLOAT16]] :
# CHECK:         torch.constant.int 5
# CHECK-NEXT:    torch.prims.convert_element_type {{.*}} -> !torch.vtensor<[2,3],f16>
print(with_wide_functions(TEXT))

# CHECK: func.func @no_text
print(with_wide_functions("func.func @no_text torch.aten.sigmoid"))
