// RUN: dovetail-opt %s --pass-pipeline='place-ops' | FileCheck %s
//
// Catches steps of a large tensor that the host copies for a region of one op, before ATen copies what that gave; and an
// op that ATen gets though a region computes its operand, uses its result, or could join it.

!v = !torch.vtensor<[512,512],f32>
!h = !torch.vtensor<[512,256],f32>
!j = !torch.vtensor<[512,512],f32>
!t = !torch.vtensor<[512,171],f32>
!u = !torch.vtensor<[512,683],f32>
!ru = !dovetail.ref<!u, strided<[683, 1]>>
!k = !torch.vtensor<[1024,256],f32>
!rv = !dovetail.ref<!v, strided<[512, 1]>>
!rh = !dovetail.ref<!h, strided<[256, 1]>>
!rj = !dovetail.ref<!j, strided<[512, 1]>>
!rk = !dovetail.ref<!k, strided<[256, 1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !rv) -> (!rj, !rj, !rk, !rj, !rh, !rj, !ru) attributes {dovetail.role = "call"} {
    %0:7 = call @forward(%x) : (!rv) -> (!rj, !rj, !rk, !rj, !rh, !rj, !ru)
    return %0#0, %0#1, %0#2, %0#3, %0#4, %0#5, %0#6 : !rj, !rj, !rk, !rj, !rh, !rj, !ru
  }
  func.func @forward(%x: !rv) -> (!rj, !rj, !rk, !rj, !rh, !rj, !ru) attributes {dovetail.role = "forward"} {
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
    // COM: Kernels write each part where it belongs, and read every second number as half of a wider one.
    // CHECK: torch.aten.slice.Tensor {{.*}}dovetail.placement = "view"
    // CHECK: torch.aten.neg {{.*}}dovetail.placement = "region"
    // CHECK: torch.aten.cos {{.*}}dovetail.placement = "region"
    // CHECK: torch.aten.cat {{.*}}dovetail.placement = "region"
    %15 = torch.aten.slice.Tensor %0, %one, %one, %end, %two : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %16 = torch.aten.neg %15 : !h -> !h
    %17 = torch.aten.cos %15 : !h -> !h
    %18 = torch.prim.ListConstruct %16, %17 : (!h, !h) -> !torch.list<vtensor>
    %19 = torch.aten.cat %18, %one : !torch.list<vtensor>, !torch.int -> !j
    // COM: Every third number is no such part.
    // CHECK: torch.aten.neg {{.*}}dovetail.placement = "library", dovetail.placement_reason = "ATen computes what it joins, without a copy"
    %three = torch.constant.int 3
    %20 = torch.aten.slice.Tensor %0, %one, %one, %end, %three : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !t
    %21 = torch.aten.neg %20 : !t -> !t
    %22 = torch.aten.exp %0 : !v -> !v
    %23 = torch.prim.ListConstruct %21, %22 : (!t, !v) -> !torch.list<vtensor>
    %24 = torch.aten.cat %23, %one : !torch.list<vtensor>, !torch.int -> !u
    %o0 = "dovetail.own"(%4) {requires_grad = false} : (!j) -> !rj
    %o1 = "dovetail.own"(%8) {requires_grad = false} : (!j) -> !rj
    %o2 = "dovetail.own"(%11) {requires_grad = false} : (!k) -> !rk
    %o3 = "dovetail.own"(%14) {requires_grad = false} : (!j) -> !rj
    %o4 = "dovetail.own"(%12) {requires_grad = false} : (!h) -> !rh
    %o5 = "dovetail.own"(%19) {requires_grad = false} : (!j) -> !rj
    %o6 = "dovetail.own"(%24) {requires_grad = false} : (!u) -> !ru
    return %o0, %o1, %o2, %o3, %o4, %o5, %o6 : !rj, !rj, !rk, !rj, !rh, !rj, !ru
  }
}
