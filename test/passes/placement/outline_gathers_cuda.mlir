// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions,verify-level{level=program}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions,verify-level{level=program}' --run-check -o %t
//
// Catches a region that is given where it gathers by another one, so that nothing in it shows that this is within range; and
// gathers in regions of a GPU by what the user gives, by what only ATen computes, or along another dimension.

!x = !torch.vtensor<[2,8,4],f32>
!i = !torch.vtensor<[6],si32>
!o = !torch.vtensor<[2,6,4],f32>
!w = !torch.vtensor<[2,4,8],f32>
!q = !torch.vtensor<[2,6,8],f32>
!rx = !dovetail.ref<!x, strided<[32, 4, 1]>>
!rw = !dovetail.ref<!w, strided<[32, 8, 1]>>
!ro = !dovetail.ref<!o, strided<[24, 4, 1]>>
!rq = !dovetail.ref<!q, strided<[48, 8, 1]>>
!g = !torch.vtensor<[6],si64>
!rg = !dovetail.ref<!g, strided<[1]>>
!row = !torch.vtensor<[2,4,6],f32>

module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rx, %w: !rw, %g: !rg) -> (!ro, !ro, !ro, !ro) attributes {dovetail.role = "call"} {
    %0:4 = call @forward(%x, %w, %g) : (!rx, !rw, !rg) -> (!ro, !ro, !ro, !ro)
    return %0#0, %0#1, %0#2, %0#3 : !ro, !ro, !ro, !ro
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: torch.operator "torch.aten.index_select"
  // CHECK: torch.operator "torch.aten.index_select"
  // CHECK: torch.operator "torch.aten.index_select"
  func.func @forward(%xr: !rx, %wr: !rw, %gr: !rg) -> (!ro, !ro, !ro, !ro) attributes {dovetail.role = "forward"} {
    %x = "dovetail.read"(%xr) : (!rx) -> !x
    %w = "dovetail.read"(%wr) : (!rw) -> !w
    %g = "dovetail.read"(%gr) : (!rg) -> !g
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %3 = torch.constant.int 3
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    %none = torch.constant.none
    %false = torch.constant.bool false
    %c = torch.aten.arange.start_step %0, %6, %1, %3, %none, %none, %false : !torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.bool -> !i
    %n = torch.aten.clamp %c, %1, %5 : !i, !torch.int, !torch.int -> !i
    %10 = torch.aten.index_select %x, %1, %n : !x, !torch.int, !i -> !o
    %11 = torch.aten.bmm %10, %w : !o, !w -> !q
    %12 = torch.aten.bmm %11, %x : !q, !x -> !o
    %13 = torch.aten.index_select %12, %1, %n : !o, !torch.int, !i -> !o
    %14 = torch.aten.exp %13 : !o -> !o
    %m = torch.aten.clamp %g, %1, %5 : !g, !torch.int, !torch.int -> !g
    %15 = torch.aten.index_select %x, %1, %m : !x, !torch.int, !g -> !o
    %r = torch.aten.abs %n : !i -> !i
    %16 = torch.aten.index_select %12, %1, %r : !o, !torch.int, !i -> !o
    %2 = torch.constant.int 2
    %s = torch.aten.index_select %w, %2, %c : !w, !torch.int, !i -> !row
    %o0 = "dovetail.own"(%14) {requires_grad = false} : (!o) -> !ro
    %o1 = "dovetail.own"(%15) {requires_grad = false} : (!o) -> !ro
    %o2 = "dovetail.own"(%12) {requires_grad = false} : (!o) -> !ro
    %o3 = "dovetail.own"(%16) {requires_grad = false} : (!o) -> !ro
    return %o0, %o1, %o2, %o3 : !ro, !ro, !ro, !ro
  }
  // CHECK-LABEL: func.func private @forward_region_0(
  // CHECK: %[[C:.*]] = torch.aten.arange
  // CHECK: %[[N:.*]] = torch.aten.clamp %[[C]]
  // CHECK: torch.aten.index_select %{{.*}}, %{{.*}}, %[[N]]
  // CHECK-LABEL: func.func private @forward_region_1(
  // CHECK: %[[C:.*]] = torch.aten.arange
  // CHECK: %[[N:.*]] = torch.aten.clamp %[[C]]
  // CHECK: torch.aten.index_select %{{.*}}, %{{.*}}, %[[N]]
}
