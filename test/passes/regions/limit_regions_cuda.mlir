// RUN: dovetail-opt %s --pass-pipeline='limit-regions,choose-drivers,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=limit-regions --run-check -o %t
//
// Catches a gradient and the sum of its columns in one region, of which IREE makes one kernel that keeps 19 KiB a thread
// in memory and is assembled for minutes; a gradient that is stored twice for it; and a sum that is parted from what
// nothing else takes.

!v = !torch.vtensor<[128,32],f32>
!s = !torch.vtensor<[32],f32>
!m = !torch.tensor<[128,32],f32>
!n = !torch.tensor<[32],f32>
!r = !dovetail.ref<!v, strided<[32, 1]>>
!rs = !dovetail.ref<!s, strided<[1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r) -> (!r, !rs, !rs) attributes {dovetail.role = "call"} {
    %0:3 = call @forward(%x) : (!r) -> (!r, !rs, !rs)
    return %0#0, %0#1, %0#2 : !r, !rs, !rs
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[X:.*]] = "dovetail.read"
  // CHECK: %[[GRADIENT:.*]] = "dovetail.alloc"{{.*}} -> !torch.tensor<[128,32],f32>
  // CHECK: call @forward_region_0_0(%[[X]], %[[GRADIENT]])
  // CHECK-NEXT: %[[TERMS:.*]] = torch.copy.to_vtensor %[[GRADIENT]]
  // CHECK-NEXT: call @forward_region_0_1(%[[TERMS]], %[[X]], %{{.*}}, %{{.*}})
  func.func @forward(%x: !r) -> (!r, !rs, !rs) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %a = "dovetail.alloc"() : () -> !m
    %b = "dovetail.alloc"() : () -> !n
    %c = "dovetail.alloc"() : () -> !n
    call @forward_region_0(%0, %a, %b, %c) : (!v, !m, !n, !n) -> ()
    %1 = torch.copy.to_vtensor %a : !v
    %2 = torch.copy.to_vtensor %b : !s
    %3 = torch.copy.to_vtensor %c : !s
    %o = "dovetail.own"(%1) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%2) {requires_grad = false} : (!s) -> !rs
    %q = "dovetail.own"(%3) {requires_grad = false} : (!s) -> !rs
    return %o, %p, %q : !r, !rs, !rs
  }
  // CHECK-LABEL: func.func private @forward_region_0_0(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: !torch.vtensor<[128,32],f32>{{[^%]*}}, %[[INTO:[a-z0-9]+]]: !torch.tensor<[128,32],f32>
  // CHECK: %[[TERMS:.*]] = torch.aten.tanh %[[X]]
  // CHECK-NEXT: torch.overwrite.tensor.contents %[[TERMS]] overwrites %[[INTO]]
  // CHECK-NEXT: return
  // CHECK-LABEL: func.func private @forward_region_0_1(
  // CHECK-SAME: %[[TERMS:[a-z0-9]+]]: !torch.vtensor<[128,32],f32>{{[^%]*}}, %[[X:[a-z0-9]+]]: !torch.vtensor<[128,32],f32>
  // CHECK: torch.aten.sum.dim_IntList %[[TERMS]]
  // CHECK: %[[SQUARES:.*]] = torch.aten.mul.Tensor %[[X]], %[[X]]
  // CHECK: torch.aten.sum.dim_IntList %[[SQUARES]]
  func.func private @forward_region_0(%x: !v, %a: !m, %b: !n, %c: !n) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %t = torch.aten.tanh %x : !v -> !v
    %s = torch.aten.sum.dim_IntList %t, %dims, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    %q = torch.aten.mul.Tensor %x, %x : !v, !v -> !v
    %u = torch.aten.sum.dim_IntList %q, %dims, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    torch.overwrite.tensor.contents %t overwrites %a : !v, !m
    torch.overwrite.tensor.contents %s overwrites %b : !s, !n
    torch.overwrite.tensor.contents %u overwrites %c : !s, !n
    return
  }
}
