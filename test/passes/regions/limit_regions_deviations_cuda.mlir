// RUN: dovetail-opt %s --pass-pipeline='limit-regions,verify-level{level=regions}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline=limit-regions --run-check -o %t
//
// Catches deviations that are stored, as many as there are numbers, for two sums of columns that one kernel adds up, and
// deviations that are not, where a sum of other columns takes them too.

!v = !torch.vtensor<[4,128,32],f32>
!k = !torch.vtensor<[4,1,32],f32>
!s = !torch.vtensor<[4,32],f32>
!t = !torch.vtensor<[128,32],f32>
!n = !torch.tensor<[4,32],f32>
!o = !torch.tensor<[128,32],f32>
!r = !dovetail.ref<!v, strided<[4096, 32, 1]>>
!rk = !dovetail.ref<!k, strided<[32, 32, 1]>>
!rs = !dovetail.ref<!s, strided<[32, 1]>>
!rt = !dovetail.ref<!t, strided<[32, 1]>>
module attributes {dovetail.level = "regions", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !r, %y: !rk) -> (!rs, !rs, !rs, !rt) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x, %y) : (!r, !rk) -> (!rs, !rs, !rs, !rt)
    return %0#0, %0#1, %0#2, %0#3 : !rs, !rs, !rs, !rt
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: call @forward_region_0(
  // CHECK: call @forward_region_1_0(
  // CHECK: call @forward_region_1_1(
  func.func @forward(%x: !r, %y: !rk) -> (!rs, !rs, !rs, !rt) attributes {dovetail.role = "forward"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!rk) -> !k
    %a = "dovetail.alloc"() : () -> !n
    %b = "dovetail.alloc"() : () -> !n
    %c = "dovetail.alloc"() : () -> !n
    %d = "dovetail.alloc"() : () -> !o
    call @forward_region_0(%0, %1, %a, %b) : (!v, !k, !n, !n) -> ()
    call @forward_region_1(%0, %1, %c, %d) : (!v, !k, !n, !o) -> ()
    %2 = torch.copy.to_vtensor %a : !s
    %3 = torch.copy.to_vtensor %b : !s
    %4 = torch.copy.to_vtensor %c : !s
    %5 = torch.copy.to_vtensor %d : !t
    %o = "dovetail.own"(%2) {requires_grad = false} : (!s) -> !rs
    %p = "dovetail.own"(%3) {requires_grad = false} : (!s) -> !rs
    %q = "dovetail.own"(%4) {requires_grad = false} : (!s) -> !rs
    %u = "dovetail.own"(%5) {requires_grad = false} : (!t) -> !rt
    return %o, %p, %q, %u : !rs, !rs, !rs, !rt
  }
  func.func private @forward_region_0(%x: !v, %y: !k, %a: !n, %b: !n) attributes {dovetail.role = "region"} {
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %d = torch.aten.sub.Tensor %x, %y, %one : !v, !k, !torch.int -> !v
    %s = torch.aten.sum.dim_IntList %d, %dims, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    %q = torch.aten.mul.Tensor %d, %d : !v, !v -> !v
    %u = torch.aten.sum.dim_IntList %q, %dims, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    torch.overwrite.tensor.contents %s overwrites %a : !s, !n
    torch.overwrite.tensor.contents %u overwrites %b : !s, !n
    return
  }
  func.func private @forward_region_1(%x: !v, %y: !k, %a: !n, %b: !o) attributes {dovetail.role = "region"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %dims = torch.prim.ListConstruct %one : (!torch.int) -> !torch.list<int>
    %others = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
    %d = torch.aten.sub.Tensor %x, %y, %one : !v, !k, !torch.int -> !v
    %s = torch.aten.sum.dim_IntList %d, %dims, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    %q = torch.aten.mul.Tensor %d, %d : !v, !v -> !v
    %u = torch.aten.sum.dim_IntList %q, %others, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !t
    torch.overwrite.tensor.contents %s overwrites %a : !s, !n
    torch.overwrite.tensor.contents %u overwrites %b : !t, !o
    return
  }
}
