// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,choose-drivers,state-recordable,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place' --run-check -o %t
//
// Catches two launches on a GPU where one makes an argument's new value and a result of it; and, worse, a result of the
// old value in the loop that overwrites it, or one that a sum is made of.

!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!v0 = !torch.vtensor<[],f32>
!m0 = !torch.tensor<[],f32>
!r0 = !dovetail.ref<!v0, strided<[]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%p: !r) -> (!r, !r, !r0) attributes {dovetail.role = "call"} {
    call @guard(%p) : (!r) -> ()
    %0:4 = call @forward(%p) : (!r) -> (!r, !r, !r0, !r)
    "dovetail.write"(%0#3, %p) {mode = "no_grad"} : (!r, !r) -> ()
    return %0#0, %0#1, %0#2 : !r, !r, !r0
  }
  func.func private @guard(!r {dovetail.name = "p"}) attributes {dovetail.mutated = 1 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[OLD:.*]] = "dovetail.read"
  // CHECK-DAG: %[[OF_NEW:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[5],f32>
  // CHECK-DAG: %[[OF_OLD:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[5],f32>
  // CHECK-DAG: %[[SUM:.*]] = "dovetail.alloc"() : () -> !torch.tensor<[],f32>
  // CHECK: call @forward_region_0(%[[OLD]], %[[OF_OLD]], %[[SUM]])
  // CHECK: %[[NEW:.*]] = "dovetail.destination"
  // CHECK: call @forward_update_0(%[[NEW]], %[[OF_NEW]])
  // CHECK: torch.copy.to_vtensor %[[OF_NEW]]
  func.func @forward(%p: !r) -> (!r, !r, !r0, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%p) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !m
    %c = "dovetail.alloc"() : () -> !m0
    %d = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %a, %b, %c, %d) : (!v, !m, !m, !m0, !m) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %2 = torch.copy.to_vtensor %b : !v
    %3 = torch.copy.to_vtensor %c : !v0
    %4 = torch.copy.to_vtensor %d : !v
    %5 = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    %6 = "dovetail.own"(%2) {requires_grad = false} : (!v) -> !r
    %7 = "dovetail.own"(%3) {requires_grad = false} : (!v0) -> !r0
    %8 = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %5, %6, %7, %8 : !r, !r, !r0, !r
  }
  func.func private @forward_region_0(%p: !v, %a: !m, %b: !m, %c: !m0, %d: !m) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %none = torch.constant.none
    %new = torch.aten.mul.Scalar %p, %one : !v, !torch.int -> !v
    %of_new = torch.aten.add.Scalar %new, %one, %one : !v, !torch.int, !torch.int -> !v
    %of_old = torch.aten.add.Tensor %new, %p, %one : !v, !v, !torch.int -> !v
    %sum = torch.aten.sum %new, %none : !v, !torch.none -> !v0
    torch.overwrite.tensor.contents %of_new overwrites %a : !v, !m
    torch.overwrite.tensor.contents %of_old overwrites %b : !v, !m
    torch.overwrite.tensor.contents %sum overwrites %c : !v0, !m0
    torch.overwrite.tensor.contents %new overwrites %d : !v, !m
    return
  }
}
