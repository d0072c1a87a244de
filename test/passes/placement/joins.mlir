// RUN: dovetail-opt %s --pass-pipeline='place-ops' | FileCheck %s
//
// Catches steps of a large tensor that the host copies for a region of one op, before ATen copies what that gave; and an
// op that ATen gets though a region computes its operand, uses its result, or could join it.

!v = !torch.vtensor<[512,512],f32>
!h = !torch.vtensor<[512,256],f32>
!j = !torch.vtensor<[512,512],f32>
!k = !torch.vtensor<[1024,256],f32>
!rv = !dovetail.ref<!v, strided<[512, 1]>>
!rh = !dovetail.ref<!h, strided<[256, 1]>>
!rj = !dovetail.ref<!j, strided<[512, 1]>>
!rk = !dovetail.ref<!k, strided<[256, 1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !rv) -> (!rj, !rj, !rk, !rj, !rh) attributes {dovetail.role = "call"} {
    %0:5 = call @forward(%x) : (!rv) -> (!rj, !rj, !rk, !rj, !rh)
    return %0#0, %0#1, %0#2, %0#3, %0#4 : !rj, !rj, !rk, !rj, !rh
  }
  func.func @forward(%x: !rv) -> (!rj, !rj, !rk, !rj, !rh) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %end = torch.constant.int 512
    %0 = "dovetail.read"(%x) : (!rv) -> !v
    %1 = torch.aten.slice.Tensor %0, %one, %zero, %end, %two : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    // CHECK: torch.aten.mul.Scalar {{.*}}dovetail.placement = "library", dovetail.placement_reason = "ATen computes what it joins, without a copy"
    %2 = torch.aten.mul.Scalar %1, %two : !h, !torch.int -> !h
    %3 = torch.prim.ListConstruct %2, %2 : (!h, !h) -> !torch.list<vtensor>
    %4 = torch.aten.cat %3, %one : !torch.list<vtensor>, !torch.int -> !j
    // COM: Of what a region computes.
    // CHECK: torch.aten.exp {{.*}}dovetail.placement = "region"
    // CHECK: torch.aten.neg {{.*}}dovetail.placement = "region"
    %5 = torch.aten.exp %1 : !h -> !h
    %6 = torch.aten.neg %5 : !h -> !h
    %7 = torch.prim.ListConstruct %6, %6 : (!h, !h) -> !torch.list<vtensor>
    %8 = torch.aten.cat %7, %one : !torch.list<vtensor>, !torch.int -> !j
    // COM: Joined in a region.
    // CHECK: torch.aten.abs {{.*}}dovetail.placement = "region"
    %9 = torch.aten.abs %1 : !h -> !h
    %10 = torch.prim.ListConstruct %9, %9 : (!h, !h) -> !torch.list<vtensor>
    %11 = torch.aten.cat %10, %zero : !torch.list<vtensor>, !torch.int -> !k
    // COM: Used by itself, too.
    // CHECK: torch.aten.sin {{.*}}dovetail.placement = "region"
    %12 = torch.aten.sin %1 : !h -> !h
    %13 = torch.prim.ListConstruct %12, %12 : (!h, !h) -> !torch.list<vtensor>
    %14 = torch.aten.cat %13, %one : !torch.list<vtensor>, !torch.int -> !j
    %o0 = "dovetail.own"(%4) {requires_grad = false} : (!j) -> !rj
    %o1 = "dovetail.own"(%8) {requires_grad = false} : (!j) -> !rj
    %o2 = "dovetail.own"(%11) {requires_grad = false} : (!k) -> !rk
    %o3 = "dovetail.own"(%14) {requires_grad = false} : (!j) -> !rj
    %o4 = "dovetail.own"(%12) {requires_grad = false} : (!h) -> !rh
    return %o0, %o1, %o2, %o3, %o4 : !rj, !rj, !rk, !rj, !rh
  }
}
