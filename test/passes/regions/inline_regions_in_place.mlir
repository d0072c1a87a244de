// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,inline-regions{regions=forward_update_0},choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,inline-regions{regions=forward_update_1},choose-drivers,verify-level{level=regions}' | FileCheck %s --check-prefix=LATER
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,inline-regions{regions=forward_update_0}' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='prove-in-place,inline-regions{regions=forward_update_1}' --run-check -o %t
//
// Catches library calls that take the place of an update that IREE did not compile, and fail after another update was
// made in place: then no update is made in place.

!v = !torch.vtensor<[5],f32>
!m = !torch.tensor<[5],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!v0 = !torch.vtensor<[],f32>
!m0 = !torch.tensor<[],f32>
!r0 = !dovetail.ref<!v0, strided<[]>>
module attributes {dovetail.level = "regions"} {
  // CHECK-LABEL: func.func @call(
  // CHECK-COUNT-2: dovetail.not_in_place = "a region that updates in place can't be: IREE did not compile the region"
  // LATER-LABEL: func.func @call(
  // LATER-COUNT-2: dovetail.not_in_place = "a region that updates in place can't be: IREE did not compile the region"
  func.func @call(%p: !r, %m: !r0) attributes {dovetail.role = "call"} {
    call @guard(%p, %m) : (!r, !r0) -> ()
    %0:2 = call @forward(%p, %m) : (!r, !r0) -> (!r0, !r)
    "dovetail.write"(%0#0, %m) {mode = "no_grad"} : (!r0, !r0) -> ()
    "dovetail.write"(%0#1, %p) {mode = "no_grad"} : (!r, !r) -> ()
    return
  }
  func.func private @guard(!r {dovetail.name = "p"}, !r0 {dovetail.name = "m"}) attributes {dovetail.mutated = 2 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[INTO:.*]] = "dovetail.destination"(%{{.*}}) {proof = "none"}
  // CHECK: %[[OLD:.*]] = "dovetail.read"
  // CHECK: %[[NEW:.*]] = torch.operator "torch.aten.mul.Scalar"(%[[OLD]],
  // CHECK: call @forward_update_1(%[[NEW]], %[[INTO]])
  // LATER-LABEL: func.func @forward(
  // LATER: %[[INTO:.*]] = "dovetail.destination"(%{{.*}}) {proof = "none"}
  // LATER-NEXT: call @forward_update_0(%[[INTO]])
  // LATER-NEXT: %[[NEW:.*]] = torch.copy.to_vtensor %[[INTO]]
  // LATER: torch.operator "torch.aten.mul.Tensor"(%{{.*}}, %[[NEW]])
  func.func @forward(%p: !r, %m: !r0) -> (!r0, !r) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%p) : (!r) -> !v
    %1 = "dovetail.read"(%m) : (!r0) -> !v0
    %a = "dovetail.alloc"() : () -> !m0
    %b = "dovetail.alloc"() : () -> !m
    call @forward_region_0(%0, %1, %a, %b) : (!v, !v0, !m0, !m) -> ()
    %3 = torch.copy.to_vtensor %a : !v0
    %4 = torch.copy.to_vtensor %b : !v
    %o = "dovetail.own"(%3) {requires_grad = false} : (!v0) -> !r0
    %q = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    return %o, %q : !r0, !r
  }
  func.func private @forward_region_0(%p: !v, %m: !v0, %a: !m0, %b: !m) attributes {dovetail.role = "region"} {
    %float = torch.constant.float 0.5
    %0 = torch.aten.mul.Scalar %m, %float : !v0, !torch.float -> !v0
    %1 = torch.aten.mul.Tensor %p, %0 : !v, !v0 -> !v
    torch.overwrite.tensor.contents %0 overwrites %a : !v0, !m0
    torch.overwrite.tensor.contents %1 overwrites %b : !v, !m
    return
  }
}
