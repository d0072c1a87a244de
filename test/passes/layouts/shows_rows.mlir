// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='place-ops,outline-regions' --run-check -o %t
//
// Catches a region that is given images channels last to permute itself, for which they would be copied to rows; and a
// region for what ATen lays out in rows at once.

!x = !torch.vtensor<[8,96,9,9],f32>
!y = !torch.vtensor<[8,9,9,96],f32>
!w = !torch.vtensor<[96,96,3,3],f32>
!rx = !dovetail.ref<!x, strided<[7776, 81, 9, 1]>>
!ry = !dovetail.ref<!y, strided<[7776, 864, 96, 1]>>
!rw = !dovetail.ref<!w, strided<[864, 9, 3, 1]>>

module attributes {dovetail.level = "split"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK: %[[IMAGES:.*]] = torch.operator "torch.aten.convolution"{{.*}}dovetail.strides
  // CHECK: %[[Y:.*]] = torch.aten.permute %[[IMAGES]], {{.*}}dovetail.shows_rows
  // CHECK: torch.operator "torch.aten.clone"{{.*}}dovetail.reason = "ATen lays out in rows what lies in another order"
  // CHECK: call @[[REGION:.*]](%[[Y]])
  // CHECK: func.func private @[[REGION]](
  // CHECK-NOT: permute
  // CHECK: torch.aten.relu
  func.func @forward(%arg0: !rx, %arg1: !rw) -> (!ry, !rx) attributes {dovetail.role = "forward"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %order = torch.prim.ListConstruct %0, %2, %3, %1 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %back = torch.prim.ListConstruct %0, %3, %1, %2 : (!torch.int, !torch.int, !torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%arg0) : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    %4 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 {dovetail.strides = [array<i64: 7776, 1, 864, 96>, unit, unit, unit, unit, unit, unit, unit, unit]} : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %5 = torch.aten.permute %4, %order {dovetail.shows_rows} : !x, !torch.list<int> -> !y
    %6 = torch.aten.relu %5 : !y -> !y
    %7 = torch.aten.permute %5, %back : !y, !torch.list<int> -> !x
    %8 = torch.aten.clone %7, %0 : !x, !torch.int -> !x
    %9 = "dovetail.own"(%6) {requires_grad = false} : (!y) -> !ry
    %10 = "dovetail.own"(%8) {requires_grad = false} : (!x) -> !rx
    return %9, %10 : !ry, !rx
  }

  func.func @call(%arg0: !rx, %arg1: !rw) -> (!ry, !rx) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%arg0, %arg1) : (!rx, !rw) -> (!ry, !rx)
    return %0#0, %0#1 : !ry, !rx
  }
}
