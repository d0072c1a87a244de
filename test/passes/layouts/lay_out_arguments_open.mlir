// RUN: dovetail-opt %s --pass-pipeline='lay-out-arguments' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-arguments' --run-check -o %t
//
// Catches an argument of open sizes whose columns lie in rows, of which the host makes a copy; and one whose strides nothing tells.

!v = !torch.vtensor<[?,?],f32>
!rv = !dovetail.ref<!v, strided<[?, 1]>>
!turned = !dovetail.ref<!v, strided<[1, ?]>>
#v = affine_map<()[s0, s1] -> (s0, s1)>
#strides = affine_map<()[s0, s1] -> (1, s0)>
module attributes {dovetail.level = "split", dovetail.hints = array<i64: 300, 500>} {
  func.func @call(%n: !torch.int {dovetail.range = array<i64: 2, 999>, dovetail.symbol = 0 : i64}, %k: !torch.int {dovetail.range = array<i64: 2, 999>, dovetail.symbol = 1 : i64},
                  %x: !turned {dovetail.sizes = #v, dovetail.strides = #strides}, %y: !turned {dovetail.sizes = #v}) -> (!rv, !rv) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%n, %k, %x, %y) : (!torch.int, !torch.int, !turned, !turned) -> (!rv, !rv)
    return %0#0, %0#1 : !rv, !rv
  }
  // CHECK-DAG:   #[[V:.*]] = affine_map<()[s0, s1] -> (s0, s1)>
  // CHECK-DAG:   #[[T:.*]] = affine_map<()[s0, s1] -> (s1, s0)>
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%n: !torch.int {dovetail.symbol = 0 : i64, dovetail.range = array<i64: 2, 999>}, %k: !torch.int {dovetail.symbol = 1 : i64, dovetail.range = array<i64: 2, 999>},
                     %x: !turned {dovetail.sizes = #v, dovetail.strides = #strides}, %y: !turned {dovetail.sizes = #v}) -> (!rv, !rv) attributes {dovetail.role = "forward"} {
    // CHECK:         %[[X:.*]] = "dovetail.read"(%arg2)
    // CHECK:         %[[ROWS:.*]] = torch.aten.permute %[[X]], %{{.*}} {dovetail.shows_rows, dovetail.sizes = [#[[T]]]}
    // CHECK:         %[[TURNED:.*]] = torch.aten.permute %[[ROWS]], %{{.*}} {dovetail.sizes = [#[[V]]]}
    // CHECK:         %[[Y:.*]] = "dovetail.read"(%arg3)
    // CHECK:         torch.aten.exp %[[TURNED]]
    // CHECK:         torch.aten.exp %[[Y]]
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#v]} : (!turned) -> !v
    %1 = "dovetail.read"(%y) {dovetail.sizes = [#v]} : (!turned) -> !v
    %2 = torch.aten.exp %0 {dovetail.sizes = [#v]} : !v -> !v
    %3 = "dovetail.own"(%2, %k) {requires_grad = false} : (!v, !torch.int) -> !rv
    %4 = torch.aten.exp %1 {dovetail.sizes = [#v]} : !v -> !v
    %5 = "dovetail.own"(%4, %k) {requires_grad = false} : (!v, !torch.int) -> !rv
    return %3, %5 : !rv, !rv
  }
}
