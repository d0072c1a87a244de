// RUN: dovetail-opt %s --pass-pipeline='limit-regions,choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=limit-regions --run-check -o %t
//
// Catches an argument of half precision that is widened in a region of its own, and stored in float32, since a sum of
// its columns and something else take it: each kernel widens what it reads.

!h = !torch.vtensor<[128,32],bf16>
!v = !torch.vtensor<[128,32],f32>
!s = !torch.vtensor<[32],f32>
!m = !torch.tensor<[128,32],f32>
!n = !torch.tensor<[32],f32>
!rh = !dovetail.ref<!h, strided<[32, 1]>>
!r = !dovetail.ref<!v, strided<[32, 1]>>
!rs = !dovetail.ref<!s, strided<[1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rh) -> (!r, !rs) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%x) : (!rh) -> (!r, !rs)
    return %0#0, %0#1 : !r, !rs
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: call @forward_region_0(
  // CHECK-NOT: call @
  // CHECK: func.func private @forward_region_0(
  func.func @forward(%x: !rh) -> (!r, !rs) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!rh) -> !h
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !n
    call @forward_region_0(%0, %a, %b) : (!h, !m, !n) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %2 = torch.copy.to_vtensor %b : !s
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%2) {requires_grad = false} : (!s) -> !rs
    return %o, %p : !r, !rs
  }
  func.func private @forward_region_0(%x: !h, %a: !m, %b: !n) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %single = torch.constant.int 6
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %w = torch.aten._to_copy %x, %single, %none, %none, %none, %false, %none : !h, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %t = torch.aten.tanh %w : !v -> !v
    %s = torch.aten.sum.dim_IntList %w, %dims, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    torch.overwrite.tensor.contents %t overwrites %a : !v, !m
    torch.overwrite.tensor.contents %s overwrites %b : !s, !n
    return
  }
}
