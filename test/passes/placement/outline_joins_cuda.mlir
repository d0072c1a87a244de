// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions,select-parts,raise-slices,lower-regions' --run-check -o %t
//
// Catches what a region computes for a join in an earlier one, and stored, because the other part is a library call's.

!x = !torch.vtensor<[8,64],f32>
!h = !torch.vtensor<[8,32],f32>
!w = !torch.vtensor<[64,64],f32>
!rx = !dovetail.ref<!x, strided<[64, 1]>>
!rw = !dovetail.ref<!w, strided<[64, 1]>>
module attributes {dovetail.level = "split", dovetail.target = "cuda:sm_90"} {
  func.func @call(%x: !rx, %w: !rw) -> !rx attributes {dovetail.role = "call"} {
    %0 = call @forward(%x, %w) : (!rx, !rw) -> !rx
    return %0 : !rx
  }
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[M:.*]] = torch.operator "torch.aten.mm"
  // CHECK: %[[R:.*]] = call @forward_region_1(%[[M]])
  // CHECK-NOT: call @
  // CHECK: "dovetail.own"(%[[R]])
  func.func @forward(%x: !rx, %w: !rw) -> !rx attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %half = torch.constant.int 32
    %end = torch.constant.int 64
    %0 = "dovetail.read"(%x) : (!rx) -> !x
    %1 = "dovetail.read"(%w) : (!rw) -> !w
    %2 = torch.aten.mm %0, %1 : !x, !w -> !x
    %3 = torch.aten.slice.Tensor %2, %one, %half, %end, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %4 = torch.aten.slice.Tensor %2, %one, %zero, %half, %one : !x, !torch.int, !torch.int, !torch.int, !torch.int -> !h
    %5 = torch.aten.neg %3 : !h -> !h
    %6 = torch.prim.ListConstruct %5, %4 : (!h, !h) -> !torch.list<vtensor>
    %7 = torch.aten.cat %6, %one : !torch.list<vtensor>, !torch.int -> !x
    %8 = torch.aten.mul.Tensor %7, %2 : !x, !x -> !x
    %9 = "dovetail.own"(%8) {requires_grad = false} : (!x) -> !rx
    return %9 : !rx
  }
}
