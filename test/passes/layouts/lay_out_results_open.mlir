// RUN: dovetail-opt %s --pass-pipeline='lay-out-results' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='lay-out-results' --run-check -o %t
//
// Catches a result of open sizes that is computed row by row and copied into eager's order; and one of unknown order, or of other sizes
// than are said of it.

!v = !torch.vtensor<[?,?],f32>
!rv = !dovetail.ref<!v, strided<[?, 1]>>
!turned = !dovetail.ref<!v, strided<[1, ?]>>
#v = affine_map<()[s0, s1] -> (s0, s1)>
#t = affine_map<()[s0, s1] -> (s1, s0)>
module attributes {dovetail.level = "split", dovetail.hints = array<i64: 5, 7>} {
  func.func @call(%n: !torch.int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %k: !torch.int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 1 : i64},
                  %x: !rv {dovetail.sizes = #v}, %y: !rv {dovetail.sizes = #t}) -> (!turned, !rv) attributes {dovetail.role = "call"} {
    %0:2 = call @forward(%n, %k, %x, %y) : (!torch.int, !torch.int, !rv, !rv) -> (!turned, !rv)
    return %0#0, %0#1 : !turned, !rv
  }
  // CHECK-DAG:   #[[V:.*]] = affine_map<()[s0, s1] -> (s0, s1)>
  // CHECK-DAG:   #[[T:.*]] = affine_map<()[s0, s1] -> (s1, s0)>
  // CHECK-LABEL: func.func @forward(
  func.func @forward(%n: !torch.int {dovetail.symbol = 0 : i64, dovetail.range = array<i64: 2, 9>}, %k: !torch.int {dovetail.symbol = 1 : i64, dovetail.range = array<i64: 2, 9>},
                     %x: !rv {dovetail.sizes = #v}, %y: !rv {dovetail.sizes = #t}) -> (!turned, !rv) attributes {dovetail.role = "forward"} {
    %zero = torch.constant.int 0
    %one = torch.constant.int 1
    %order = torch.prim.ListConstruct %one, %zero : (!torch.int, !torch.int) -> !torch.list<int>
    // CHECK:         %[[X:.*]] = "dovetail.read"(%arg2)
    // CHECK:         %[[Y:.*]] = "dovetail.read"(%arg3)
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#v]} : (!rv) -> !v
    %1 = "dovetail.read"(%y) {dovetail.sizes = [#t]} : (!rv) -> !v
    // CHECK:         %[[TURNED:.*]] = torch.aten.permute %[[Y]], %{{.*}} {dovetail.sizes = [#[[V]]]}
    // CHECK:         %[[SUM:.*]] = torch.aten.add.Tensor %[[X]], %[[TURNED]], %{{.*}} {dovetail.sizes = [#[[V]]]}
    // CHECK:         %[[RESULT:.*]] = torch.aten.permute %[[SUM]], %{{.*}} {dovetail.sizes = [#[[T]]]}
    // CHECK:         "dovetail.own"(%[[RESULT]],
    %2 = torch.aten.permute %0, %order {dovetail.sizes = [#t]} : !v, !torch.list<int> -> !v
    %3 = torch.aten.add.Tensor %2, %1, %one {dovetail.sizes = [#t]} : !v, !v, !torch.int -> !v
    %4 = "dovetail.own"(%3, %k) {requires_grad = false} : (!v, !torch.int) -> !turned
    // CHECK:         %[[ROWS:.*]] = torch.aten.permute %[[X]]
    // CHECK:         %[[EXP:.*]] = torch.aten.exp %[[ROWS]]
    // CHECK:         "dovetail.own"(%[[EXP]],
    %5 = torch.aten.permute %0, %order {dovetail.sizes = [#t]} : !v, !torch.list<int> -> !v
    %6 = torch.aten.exp %5 {dovetail.sizes = [#t]} : !v -> !v
    %7 = "dovetail.own"(%6, %n) {requires_grad = false} : (!v, !torch.int) -> !rv
    return %4, %7 : !turned, !rv
  }
}
