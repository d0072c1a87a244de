// RUN: dovetail-opt %s --pass-pipeline='batch-library-calls' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='batch-library-calls,outline-regions,verify-level{level=program},verify-comparisons' --run-check -o %t
//
// Catches values that decide something and are parts of one batch, each computed from all that was put together.

!v = !torch.vtensor<[2,2],f32>
!b = !torch.vtensor<[2,2],i1>
!r = !dovetail.ref<!v, strided<[2, 1]>>
!rb = !dovetail.ref<!b, strided<[2, 1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r) -> !rb attributes {dovetail.role = "call"} {
    %0 = call @forward(%x) : (!r) -> !rb
    return %0 : !rb
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: torch.aten.cat
  // CHECK-COUNT-6: torch.aten.sin %
  // CHECK-NOT: torch.aten.cat
  // CHECK: return
  func.func @forward(%x: !r) -> !rb attributes {dovetail.role = "forward"} {
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %i0 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %s0 = torch.aten.sin %i0 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %i1 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %s1 = torch.aten.sin %i1 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %i2 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %s2 = torch.aten.sin %i2 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %i3 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %s3 = torch.aten.sin %i3 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %i4 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %s4 = torch.aten.sin %i4 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %i5 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %s5 = torch.aten.sin %i5 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %m1 = torch.aten.mul.Tensor %s0, %s1 {dovetail.placement = "region"} : !v, !v -> !v
    %m2 = torch.aten.mul.Tensor %m1, %s2 {dovetail.placement = "region"} : !v, !v -> !v
    %m3 = torch.aten.mul.Tensor %m2, %s3 {dovetail.placement = "region"} : !v, !v -> !v
    %m4 = torch.aten.mul.Tensor %m3, %s4 {dovetail.placement = "region"} : !v, !v -> !v
    %m5 = torch.aten.mul.Tensor %m4, %s5 {dovetail.placement = "region"} : !v, !v -> !v
    %d = torch.aten.gt.Scalar %m5, %one {dovetail.placement = "region"} : !v, !torch.int -> !b
    %h = "dovetail.own"(%d) {requires_grad = false} : (!b) -> !rb
    return %h : !rb
  }
}
