// RUN: dovetail-opt %s --pass-pipeline='place-ops' | FileCheck %s
//
// Catches weights that a region copies one by one, to be joined for a product alone, and what kernels compute of a join
// left to them by a copy.

!w = !torch.vtensor<[64,64],f32>
!ww = !torch.vtensor<[128,64],f32>
!t = !torch.vtensor<[64,128],f32>
!rw = !dovetail.ref<!w, strided<[64, 1]>>
!rww = !dovetail.ref<!ww, strided<[64, 1]>>
!rt = !dovetail.ref<!t, strided<[128, 1]>>
module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%a: !rw, %b: !rw) -> (!rt, !rww, !rt) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%a) : (!rw) -> !w
    %1 = "dovetail.read"(%b) : (!rw) -> !w
    %turned = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    // CHECK: torch.aten.cat {{.*}} {dovetail.placement = "library", dovetail.placement_reason = "ATen copies several arguments by one launch"}
    %2 = torch.prim.ListConstruct %0, %1 : (!w, !w) -> !torch.list<vtensor>
    %3 = torch.aten.cat %2, %zero : !torch.list<vtensor>, !torch.int -> !ww
    %4 = torch.aten.permute %3, %turned : !ww, !torch.list<int> -> !t
    %5 = torch.aten.mm %0, %4 : !w, !t -> !t
    // COM: An exponential of it is another kernel's work anyway.
    // CHECK: torch.aten.cat {{.*}} {dovetail.placement = "region"}
    %6 = torch.prim.ListConstruct %1, %0 : (!w, !w) -> !torch.list<vtensor>
    %7 = torch.aten.cat %6, %zero : !torch.list<vtensor>, !torch.int -> !ww
    %8 = torch.aten.exp %7 : !ww -> !ww
    %9 = torch.aten.permute %7, %turned : !ww, !torch.list<int> -> !t
    %10 = torch.aten.mm %0, %9 : !w, !t -> !t
    // COM: So is what another one computes.
    // CHECK: torch.aten.cat {{.*}} {dovetail.placement = "region"}
    %11 = torch.aten.exp %0 : !w -> !w
    %12 = torch.prim.ListConstruct %11, %1 : (!w, !w) -> !torch.list<vtensor>
    %13 = torch.aten.cat %12, %zero : !torch.list<vtensor>, !torch.int -> !ww
    %14 = torch.aten.permute %13, %turned : !ww, !torch.list<int> -> !t
    %15 = torch.aten.mm %1, %14 : !w, !t -> !t
    %16 = torch.aten.add.Tensor %10, %15, %one : !t, !t, !torch.int -> !t
    %17 = "dovetail.own"(%5) {requires_grad = false} : (!t) -> !rt
    %18 = "dovetail.own"(%8) {requires_grad = false} : (!ww) -> !rww
    %19 = "dovetail.own"(%16) {requires_grad = false} : (!t) -> !rt
    return %17, %18, %19 : !rt, !rww, !rt
  }
}
