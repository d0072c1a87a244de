// RUN: dovetail-opt %s --pass-pipeline='batch-library-calls' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='batch-library-calls,outline-regions,verify-level{level=program}' --run-check -o %t
//
// Catches hundreds of calls on one element each; a use of a joined result that stands before it; and ops joined that
// depend on each other, differ in a number, or are too few to pay.

!v = !torch.vtensor<[],f32>
!r = !dovetail.ref<!v, strided<[]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r) -> (!r, !r) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!r) -> (!r, !r)
    return %0#0, %0#1 : !r, !r
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[X:.*]] = "dovetail.read"
  // CHECK: %[[LIST:.*]] = torch.prim.ListConstruct {{.*}} {dovetail.placement = "view"} : (!torch.vtensor<[1],f32>,
  // CHECK: %[[CAT:.*]] = torch.aten.cat %[[LIST]], %{{.*}} {dovetail.placement = "region"} : {{.*}} -> !torch.vtensor<[6],f32>
  // CHECK: %[[ALL:.*]] = torch.aten.pow.Scalar %[[BASE:.*]], %[[CAT]] {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : {{.*}} -> !torch.vtensor<[6],f32>
  // CHECK-COUNT-6: torch.aten.slice.Tensor %[[ALL]]
  // CHECK: torch.aten.view
  // COM: What uses the first of them comes after all of them.
  // CHECK: torch.aten.neg
  // COM: Each needs the one before it.
  // CHECK-COUNT-6: torch.aten.pow.Scalar
  // COM: Another number, twice only.
  // CHECK-COUNT-2: torch.aten.pow.Scalar
  // CHECK-NOT: torch.aten.cat
  func.func @forward(%x: !r) -> (!r, !r) attributes {dovetail.role = "forward"} {
    %base = torch.constant.float 9.000000e-01
    %other = torch.constant.float 8.000000e-01
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %s0 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %p0 = torch.aten.pow.Scalar %base, %s0 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %n = torch.aten.neg %p0 {dovetail.placement = "region"} : !v -> !v
    %s1 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %p1 = torch.aten.pow.Scalar %base, %s1 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %s2 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %p2 = torch.aten.pow.Scalar %base, %s2 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %s3 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %p3 = torch.aten.pow.Scalar %base, %s3 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %s4 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %p4 = torch.aten.pow.Scalar %base, %s4 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %s5 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %p5 = torch.aten.pow.Scalar %base, %s5 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %m1 = torch.aten.mul.Tensor %n, %p1 {dovetail.placement = "region"} : !v, !v -> !v
    %m2 = torch.aten.mul.Tensor %m1, %p2 {dovetail.placement = "region"} : !v, !v -> !v
    %m3 = torch.aten.mul.Tensor %m2, %p3 {dovetail.placement = "region"} : !v, !v -> !v
    %m4 = torch.aten.mul.Tensor %m3, %p4 {dovetail.placement = "region"} : !v, !v -> !v
    %m5 = torch.aten.mul.Tensor %m4, %p5 {dovetail.placement = "region"} : !v, !v -> !v
    %c0 = torch.aten.pow.Scalar %base, %m5 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %c1 = torch.aten.pow.Scalar %base, %c0 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %c2 = torch.aten.pow.Scalar %base, %c1 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %c3 = torch.aten.pow.Scalar %base, %c2 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %c4 = torch.aten.pow.Scalar %base, %c3 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %c5 = torch.aten.pow.Scalar %base, %c4 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %d0 = torch.aten.pow.Scalar %other, %s0 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %d1 = torch.aten.pow.Scalar %other, %s1 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !torch.float, !v -> !v
    %e = torch.aten.mul.Tensor %d0, %d1 {dovetail.placement = "region"} : !v, !v -> !v
    %o = "dovetail.own"(%c5) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%e) {requires_grad = false} : (!v) -> !r
    return %o, %q : !r, !r
  }
}
