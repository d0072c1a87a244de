// RUN: dovetail-opt %s --pass-pipeline='batch-library-calls' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='batch-library-calls,outline-regions,verify-level{level=program}' --run-check -o %t
//
// Catches a group that is joined where its last op was before another group was joined, which moved its first op behind.

!v = !torch.vtensor<[],f32>
!r = !dovetail.ref<!v, strided<[]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r) -> (!r, !r) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!r) -> (!r, !r)
    return %0#0, %0#1 : !r, !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[SIN:.*]] = torch.aten.sin %{{.*}} : !torch.vtensor<[6],f32>
  // CHECK: %[[COS:.*]] = torch.aten.cos %{{.*}} : !torch.vtensor<[6],f32>
  // CHECK-NOT: torch.aten.sin
  // CHECK-NOT: torch.aten.cos
  func.func @forward(%x: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %i0 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %i1 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %i2 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %i3 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %i4 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %i5 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %a0 = torch.aten.sin %i0 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %c0 = torch.aten.cos %a0 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %b = torch.aten.log10 %0 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %j1 = torch.aten.add.Scalar %b, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %j2 = torch.aten.add.Scalar %b, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %j3 = torch.aten.add.Scalar %b, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %j4 = torch.aten.add.Scalar %b, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %j5 = torch.aten.add.Scalar %b, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %c1 = torch.aten.cos %j1 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %c2 = torch.aten.cos %j2 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %c3 = torch.aten.cos %j3 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %c4 = torch.aten.cos %j4 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %c5 = torch.aten.cos %j5 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %a1 = torch.aten.sin %i1 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %a2 = torch.aten.sin %i2 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %a3 = torch.aten.sin %i3 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %a4 = torch.aten.sin %i4 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %a5 = torch.aten.sin %i5 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %at1 = torch.aten.mul.Tensor %a0, %a1 {dovetail.placement = "region"} : !v, !v -> !v
    %at2 = torch.aten.mul.Tensor %at1, %a2 {dovetail.placement = "region"} : !v, !v -> !v
    %at3 = torch.aten.mul.Tensor %at2, %a3 {dovetail.placement = "region"} : !v, !v -> !v
    %at4 = torch.aten.mul.Tensor %at3, %a4 {dovetail.placement = "region"} : !v, !v -> !v
    %at5 = torch.aten.mul.Tensor %at4, %a5 {dovetail.placement = "region"} : !v, !v -> !v
    %ct1 = torch.aten.mul.Tensor %c0, %c1 {dovetail.placement = "region"} : !v, !v -> !v
    %ct2 = torch.aten.mul.Tensor %ct1, %c2 {dovetail.placement = "region"} : !v, !v -> !v
    %ct3 = torch.aten.mul.Tensor %ct2, %c3 {dovetail.placement = "region"} : !v, !v -> !v
    %ct4 = torch.aten.mul.Tensor %ct3, %c4 {dovetail.placement = "region"} : !v, !v -> !v
    %ct5 = torch.aten.mul.Tensor %ct4, %c5 {dovetail.placement = "region"} : !v, !v -> !v
    %o = "dovetail.own"(%at5) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%ct5) {requires_grad = false} : (!v) -> !r
    return %o, %p : !r, !r
  }
}
