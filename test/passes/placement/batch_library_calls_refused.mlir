// RUN: dovetail-opt %s --pass-pipeline='batch-library-calls' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='batch-library-calls,outline-regions,verify-level{level=program}' --run-check -o %t
//
// Catches results handed out, or saved, that lie in one memory; an effect that is moved; and tensors put end to end of an
// element type that regions can't take, or for an op that counts where an element stands or in which memory format.

!v = !torch.vtensor<[2,2],f32>
!flat = !torch.vtensor<[4],f32>
!c = !torch.vtensor<[2,2],complex<f32>>
!r = !dovetail.ref<!v, strided<[2, 1]>>
!rflat = !dovetail.ref<!flat, strided<[1]>>
!rc = !dovetail.ref<!c, strided<[2, 1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r, %z: !rc) -> (!r, !r, !r, !rflat, !rflat, !rflat, !r, !rc) attributes {dovetail.role = "call"} {
    %0:8 = call @forward(%x, %z) : (!r, !rc) -> (!r, !r, !r, !rflat, !rflat, !rflat, !r, !rc)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6, %0#7 : !r, !r, !r, !rflat, !rflat, !rflat, !r, !rc
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: torch.aten.cat
  // COM: Handed out, three of them through views.
  // CHECK-COUNT-6: torch.aten.sin %
  // COM: The first is asserted on before the last is computed.
  // CHECK: torch.aten.cos %
  // CHECK: torch.operator "torch.aten._assert_async"
  // CHECK-COUNT-5: torch.aten.cos %
  // CHECK-COUNT-6: torch.aten.tril %
  // CHECK-COUNT-6: torch.aten.clone %
  // CHECK-COUNT-6: torch.aten.exp %
  // CHECK-NOT: torch.aten.cat
  // CHECK: return
  func.func @forward(%x: !r, %z: !rc) -> (!r, !r, !r, !rflat, !rflat, !rflat, !r, !rc) attributes {dovetail.role = "forward"} {
    %one = torch.constant.int 1
    %four = torch.constant.int 4
    %none = torch.constant.none
    %sizes = torch.prim.ListConstruct %four : (!torch.int) -> !torch.list<int>
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%z) : (!rc) -> !c
    %i0 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %i1 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %i2 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %i3 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %i4 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %i5 = torch.aten.add.Scalar %0, %one, %one {dovetail.placement = "region"} : !v, !torch.int, !torch.int -> !v
    %s0 = torch.aten.sin %i0 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %s1 = torch.aten.sin %i1 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %s2 = torch.aten.sin %i2 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %s3 = torch.aten.sin %i3 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %s4 = torch.aten.sin %i4 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %s5 = torch.aten.sin %i5 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %f3 = torch.aten.view %s3, %sizes {dovetail.placement = "view"} : !v, !torch.list<int> -> !flat
    %f4 = torch.aten.view %s4, %sizes {dovetail.placement = "view"} : !v, !torch.list<int> -> !flat
    %f5 = torch.aten.view %s5, %sizes {dovetail.placement = "view"} : !v, !torch.list<int> -> !flat
    %k0 = torch.aten.cos %i0 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %zero = torch.constant.int 0
    %row = torch.aten.select.int %k0, %zero, %zero {dovetail.placement = "view"} : !v, !torch.int, !torch.int -> !torch.vtensor<[2],f32>
    %first = torch.aten.select.int %row, %zero, %zero {dovetail.placement = "view"} : !torch.vtensor<[2],f32>, !torch.int, !torch.int -> !torch.vtensor<[],f32>
    torch.operator "torch.aten._assert_async"(%first) {dovetail.effect = "other", dovetail.reason = "effect", dovetail.strides = [array<i64>]} : (!torch.vtensor<[],f32>) -> ()
    %k1 = torch.aten.cos %i1 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %k2 = torch.aten.cos %i2 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %k3 = torch.aten.cos %i3 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %k4 = torch.aten.cos %i4 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %k5 = torch.aten.cos %i5 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v -> !v
    %kt1 = torch.aten.mul.Tensor %k0, %k1 {dovetail.placement = "region"} : !v, !v -> !v
    %kt2 = torch.aten.mul.Tensor %kt1, %k2 {dovetail.placement = "region"} : !v, !v -> !v
    %kt3 = torch.aten.mul.Tensor %kt2, %k3 {dovetail.placement = "region"} : !v, !v -> !v
    %kt4 = torch.aten.mul.Tensor %kt3, %k4 {dovetail.placement = "region"} : !v, !v -> !v
    %kt5 = torch.aten.mul.Tensor %kt4, %k5 {dovetail.placement = "region"} : !v, !v -> !v
    %l0 = torch.aten.tril %i0, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.int -> !v
    %l1 = torch.aten.tril %i1, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.int -> !v
    %l2 = torch.aten.tril %i2, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.int -> !v
    %l3 = torch.aten.tril %i3, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.int -> !v
    %l4 = torch.aten.tril %i4, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.int -> !v
    %l5 = torch.aten.tril %i5, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.int -> !v
    %lt1 = torch.aten.mul.Tensor %l0, %l1 {dovetail.placement = "region"} : !v, !v -> !v
    %lt2 = torch.aten.mul.Tensor %lt1, %l2 {dovetail.placement = "region"} : !v, !v -> !v
    %lt3 = torch.aten.mul.Tensor %lt2, %l3 {dovetail.placement = "region"} : !v, !v -> !v
    %lt4 = torch.aten.mul.Tensor %lt3, %l4 {dovetail.placement = "region"} : !v, !v -> !v
    %lt5 = torch.aten.mul.Tensor %lt4, %l5 {dovetail.placement = "region"} : !v, !v -> !v
    %m0 = torch.aten.clone %i0, %none {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.none -> !v
    %m1 = torch.aten.clone %i1, %none {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.none -> !v
    %m2 = torch.aten.clone %i2, %none {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.none -> !v
    %m3 = torch.aten.clone %i3, %none {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.none -> !v
    %m4 = torch.aten.clone %i4, %none {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.none -> !v
    %m5 = torch.aten.clone %i5, %none {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !v, !torch.none -> !v
    %mt1 = torch.aten.mul.Tensor %m0, %m1 {dovetail.placement = "region"} : !v, !v -> !v
    %mt2 = torch.aten.mul.Tensor %mt1, %m2 {dovetail.placement = "region"} : !v, !v -> !v
    %mt3 = torch.aten.mul.Tensor %mt2, %m3 {dovetail.placement = "region"} : !v, !v -> !v
    %mt4 = torch.aten.mul.Tensor %mt3, %m4 {dovetail.placement = "region"} : !v, !v -> !v
    %mt5 = torch.aten.mul.Tensor %mt4, %m5 {dovetail.placement = "region"} : !v, !v -> !v
    %c0 = torch.aten.mul.Scalar %1, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !torch.int -> !c
    %c1 = torch.aten.mul.Scalar %1, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !torch.int -> !c
    %c2 = torch.aten.mul.Scalar %1, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !torch.int -> !c
    %c3 = torch.aten.mul.Scalar %1, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !torch.int -> !c
    %c4 = torch.aten.mul.Scalar %1, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !torch.int -> !c
    %c5 = torch.aten.mul.Scalar %1, %one {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !torch.int -> !c
    %e0 = torch.aten.exp %c0 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c -> !c
    %e1 = torch.aten.exp %c1 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c -> !c
    %e2 = torch.aten.exp %c2 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c -> !c
    %e3 = torch.aten.exp %c3 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c -> !c
    %e4 = torch.aten.exp %c4 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c -> !c
    %e5 = torch.aten.exp %c5 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c -> !c
    %et1 = torch.aten.mul.Tensor %e0, %e1 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !c -> !c
    %et2 = torch.aten.mul.Tensor %et1, %e2 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !c -> !c
    %et3 = torch.aten.mul.Tensor %et2, %e3 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !c -> !c
    %et4 = torch.aten.mul.Tensor %et3, %e4 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !c -> !c
    %et5 = torch.aten.mul.Tensor %et4, %e5 {dovetail.placement = "fallback", dovetail.placement_reason = "why"} : !c, !c -> !c
    %u0 = torch.aten.mul.Tensor %kt5, %lt5 {dovetail.placement = "region"} : !v, !v -> !v
    %u1 = torch.aten.mul.Tensor %u0, %mt5 {dovetail.placement = "region"} : !v, !v -> !v
    %o0 = "dovetail.own"(%s0) {requires_grad = false} : (!v) -> !r
    %o1 = "dovetail.own"(%s1) {requires_grad = false} : (!v) -> !r
    %o2 = "dovetail.own"(%s2) {requires_grad = false} : (!v) -> !r
    %o3 = "dovetail.own"(%f3) {requires_grad = false} : (!flat) -> !rflat
    %o4 = "dovetail.own"(%f4) {requires_grad = false} : (!flat) -> !rflat
    %o5 = "dovetail.own"(%f5) {requires_grad = false} : (!flat) -> !rflat
    %o6 = "dovetail.own"(%u1) {requires_grad = false} : (!v) -> !r
    %o7 = "dovetail.own"(%et5) {requires_grad = false} : (!c) -> !rc
    return %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7 : !r, !r, !r, !rflat, !rflat, !rflat, !r, !rc
  }
}
