// RUN: dovetail-opt %s --pass-pipeline='lower-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lower-regions' --run-check -o %t
//
// Catches a result of a region that is lost or mixed up with another when it becomes a destination, and functions that are
// no regions but are lowered as if they were.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "program"} {
  // CHECK: module attributes {dovetail.level = "regions"}
  // CHECK-LABEL: func.func @call(
  // CHECK-NEXT: %[[R:.*]]:2 = call @forward(%{{.*}}) : (
  func.func @call(%x: !r) -> (!r, !r) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!r) -> (!r, !r)
    return %0#0, %0#1 : !r, !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[X:.*]] = "dovetail.read"
  // CHECK-NEXT: %[[A:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>
  // CHECK-NEXT: %[[B:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[4],f32>
  // CHECK-NEXT: call @forward_region_0(%[[X]], %[[A]], %[[B]]) : ({{.*}}) -> ()
  // CHECK-NEXT: %[[FIRST:.*]] = torch.copy.to_vtensor %[[A]]
  // CHECK-NEXT: %[[SECOND:.*]] = torch.copy.to_vtensor %[[B]]
  // CHECK-NEXT: "dovetail.own"(%[[FIRST]])
  // CHECK-NEXT: "dovetail.own"(%[[SECOND]])
  func.func @forward(%x: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1:2 = call @forward_region_0(%0) : (!v) -> (!v, !v)
    %o = "dovetail.own"(%1#0) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%1#1) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[4],f32>, %[[A:[a-z0-9]+]]: !torch.tensor<[4],f32>, %[[B:[a-z0-9]+]]: !torch.tensor<[4],f32>) attributes {dovetail.role = "region"}
  // CHECK-NEXT: %[[EXP:.*]] = torch.aten.exp %[[X]]
  // CHECK-NEXT: %[[NEG:.*]] = torch.aten.neg %[[EXP]]
  // CHECK-NEXT: torch.overwrite.tensor.contents %[[NEG]] overwrites %[[A]]
  // CHECK-NEXT: torch.overwrite.tensor.contents %[[EXP]] overwrites %[[B]]
  // CHECK-NEXT: return{{$}}
  func.func private @forward_region_0(%x: !v) -> (!v, !v) attributes {dovetail.role = "region"} {
    %0 = torch.aten.exp %x : !v -> !v
    %1 = torch.aten.neg %0 : !v -> !v
    return %1, %0 : !v, !v
  }
}
