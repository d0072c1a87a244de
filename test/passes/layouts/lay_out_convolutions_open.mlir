// RUN: dovetail-opt %s --pass-pipeline='lay-out-convolutions,merge-equal-values' | FileCheck %s
//
// Catches a chain that is laid out though nobody knows how many bytes its copies move, and an error in its place.

!x = !torch.vtensor<[?,16,32,32],f32>
!w = !torch.vtensor<[16,16,3,3],f32>
!rx = !dovetail.ref<!x, strided<[16384, 1024, 32, 1]>>
!rw = !dovetail.ref<!w, strided<[144, 9, 3, 1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK-NOT: dovetail.strides
  // CHECK-NOT: torch.aten.permute
  func.func @joint(%arg0: !rx, %arg1: !rw) -> !rx attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%arg0) : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    %2 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %3 = torch.aten.relu %2 : !x -> !x
    %4 = torch.aten.convolution %3, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %5 = torch.aten.relu %4 : !x -> !x
    %6 = torch.aten.convolution %5, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %7 = "dovetail.own"(%6) {requires_grad = true} : (!x) -> !rx
    return %7 : !rx
  }
}
