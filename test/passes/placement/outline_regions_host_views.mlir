// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' --run-check -o %t
//
// Catches a region that runs before the view that it reads by way of other views, where that one must stay on the host
// (the pass crashed); and a `diagonal` in a region: IREE computes nothing of its operand but the diagonal, though it is
// handed out, and leaves the rest as it finds it.

!v = !torch.vtensor<[4],f32>
!m = !torch.vtensor<[2,2],f32>
!h = !torch.vtensor<[2],f32>
!o = !torch.vtensor<[1],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!rm = !dovetail.ref<!m, strided<[2, 1]>>
!rh = !dovetail.ref<!h, strided<[1]>>
module attributes {dovetail.level = "split"} {
  func.func @call(%x: !r, %y: !rm) -> (!rh, !rm, !rh) attributes {dovetail.role = "call"} {
    %0:3 = call @forward(%x, %y) : (!r, !rm) -> (!rh, !rm, !rh)
    return %0#0, %0#1, %0#2 : !rh, !rm, !rh
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[A:.*]]:2 = call @forward_region_0(
  // CHECK: %[[S:.*]] = torch.aten.as_strided %[[A]]#0
  // CHECK: %[[D:.*]] = torch.aten.diagonal %[[A]]#1
  // CHECK: call @forward_region_1(
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK-NOT: torch.aten.diagonal
  func.func @forward(%x: !r, %y: !rm) -> (!rh, !rm, !rh) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!rm) -> !m
    %2 = torch.aten.exp %0 : !v -> !v
    %size = torch.prim.ListConstruct %two : (!torch.int) -> !torch.list<int>
    %3 = torch.aten.as_strided %2, %size, %size, %one : !v, !torch.list<int>, !torch.list<int>, !torch.int -> !h
    %4 = torch.aten.slice.Tensor %3, %zero, %zero, %one, %one : !h, !torch.int, !torch.int, !torch.int, !torch.int -> !o
    %5 = torch.aten.slice.Tensor %3, %zero, %one, %two, %one : !h, !torch.int, !torch.int, !torch.int, !torch.int -> !o
    %parts = torch.prim.ListConstruct %5, %4 : (!o, !o) -> !torch.list<vtensor>
    %6 = torch.aten.cat %parts, %zero : !torch.list<vtensor>, !torch.int -> !h
    %7 = torch.aten.exp %1 : !m -> !m
    %8 = torch.aten.diagonal %7, %zero, %zero, %one : !m, !torch.int, !torch.int, !torch.int -> !h
    %9 = torch.aten.neg %8 : !h -> !h
    %o = "dovetail.own"(%6) {requires_grad = false} : (!h) -> !rh
    %p = "dovetail.own"(%7) {requires_grad = false} : (!m) -> !rm
    %q = "dovetail.own"(%9) {requires_grad = false} : (!h) -> !rh
    return %o, %p, %q : !rh, !rm, !rh
  }
}
