// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' --run-check -o %t
//
// Catches a backward that recomputes all checkpointed products at once, before anything else: its memory would be what
// checkpointing was to save. The second product is needed last, through a view, so it comes after the first gradient.

!v = !torch.vtensor<[4,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>

module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r) -> !r attributes {dovetail.role = "call"} {
    %0 = call @apply(%x) : (!r) -> !r
    return %0 : !r
  }
  func.func @forward(%x: !r) -> (!r, !v {dovetail.saved = "checked"}) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.mm %0, %0 : !v, !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    return %o, %0 : !r, !v
  }
  // CHECK-LABEL: func.func @backward(
  // CHECK-SAME: %[[X:.*]]: !torch.vtensor<[4,4],f32>, %[[T:.*]]: !dovetail.ref
  // CHECK: %[[FIRST:.*]] = torch.operator "torch.aten.mm"(%[[X]], %[[X]])
  // CHECK: %[[A:.*]] = call @backward_region_{{[0-9]+}}({{.*}}%[[FIRST]]
  // CHECK-DAG: torch.operator "torch.aten.mm"(%[[A]], %[[X]])
  // CHECK-DAG: %[[SECOND:.*]] = torch.operator "torch.aten.mm"(%[[FIRST]], %[[X]])
  // CHECK: call @backward_region_{{[0-9]+}}({{.*}}%[[SECOND]]
  func.func @backward(%x: !v, %t: !r {dovetail.tangent_of = 0 : i64}) -> !v attributes {dovetail.role = "backward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = torch.aten.mm %x, %x : !v, !v -> !v
    %1 = torch.aten.mm %0, %x : !v, !v -> !v
    %2 = torch.aten.transpose.int %1, %zero, %one : !v, !torch.int, !torch.int -> !v
    %3 = "dovetail.read"(%t) : (!r) -> !v
    %4 = torch.aten.mul.Tensor %3, %0 : !v, !v -> !v
    %5 = torch.aten.mm %4, %x : !v, !v -> !v
    %6 = torch.aten.mul.Tensor %5, %2 : !v, !v -> !v
    return %6 : !v
  }
  func.func private @apply(!r) -> !r attributes {dovetail.backward = @backward, dovetail.forward = @forward, dovetail.role = "border"}
}
