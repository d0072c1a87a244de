// RUN: dovetail-opt %s --pass-pipeline='lay-out-convolutions,merge-equal-values' | FileCheck %s
//
// Catches a chain of an open batch that stays in rows, and strides or sizes of it that are those of another batch.

!x = !torch.vtensor<[?,16,32,32],f32>
!w = !torch.vtensor<[16,16,3,3],f32>
!rx = !dovetail.ref<!x, strided<[16384, 1024, 32, 1]>>
#x = affine_map<()[s0] -> (s0, 16, 32, 32)>
!rw = !dovetail.ref<!w, strided<[144, 9, 3, 1]>>

module attributes {dovetail.hints = array<i64: 8>, dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 9223372036854775807>, dovetail.symbol = 0 : i64}, %arg0: !rx {dovetail.sizes = #x}, %arg1: !rw) -> !rx attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %false = torch.constant.bool false
    %none = torch.constant.none
    %ones = torch.prim.ListConstruct %1, %1 : (!torch.int, !torch.int) -> !torch.list<int>
    %zeros = torch.prim.ListConstruct %0, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %x = "dovetail.read"(%arg0) {dovetail.sizes = [#x]} : (!rx) -> !x
    %w = "dovetail.read"(%arg1) : (!rw) -> !w
    // CHECK: %[[FIRST:.*]] = torch.aten.convolution %{{.*}} {dovetail.sizes = [#[[ROWS:.*]]], dovetail.strides = [array<i64: 16384, 1, 512, 16>, unit, unit,
    // CHECK: %[[Y:.*]] = torch.aten.permute %[[FIRST]], %{{.*}} {dovetail.shows_rows, dovetail.sizes = [#[[LAST:.*]]]} : {{.*}} -> !torch.vtensor<[?,32,32,16],f32>
    // CHECK: %[[RELU:.*]] = torch.aten.relu %[[Y]] {dovetail.sizes = [#[[LAST]]]}
    // CHECK: %[[BACK:.*]] = torch.aten.permute %[[RELU]], %{{.*}} {dovetail.sizes = [#[[ROWS]]]} : {{.*}} -> !torch.vtensor<[?,16,32,32],f32>
    // CHECK: torch.aten.convolution %[[BACK]],
    %2 = torch.aten.convolution %x, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 {dovetail.sizes = [#x]} : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %3 = torch.aten.relu %2 {dovetail.sizes = [#x]} : !x -> !x
    %4 = torch.aten.convolution %3, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 {dovetail.sizes = [#x]} : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    %5 = torch.aten.relu %4 {dovetail.sizes = [#x]} : !x -> !x
    %6 = torch.aten.convolution %5, %w, %none, %ones, %ones, %ones, %false, %zeros, %1 {dovetail.sizes = [#x]} : !x, !w, !torch.none, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool, !torch.list<int>, !torch.int -> !x
    // COM: The user gets rows.
    // CHECK: %[[LAID:.*]] = torch.aten.clone {{.*}} {dovetail.sizes = [#[[ROWS]]]}
    // CHECK: "dovetail.own"(%[[LAID]])
    %7 = "dovetail.own"(%6) {requires_grad = true} : (!x) -> !rx
    return %7 : !rx
  }
}
