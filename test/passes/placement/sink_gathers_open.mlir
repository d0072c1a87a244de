// RUN: dovetail-opt %s --sink-gathers | FileCheck %s
// RUN: dovetail-opt %s --sink-gathers --run-check -o %t
//
// Catches all logarithms of rows of an open length computed for one of each row; and one of each row of a tensor that may have other rows.

!v = !torch.vtensor<[?,?],f32>
!r = !torch.vtensor<[?,1],f32>
!i = !torch.vtensor<[?,1],si64>
!rv = !dovetail.ref<!v, strided<[?, 1]>>
!rr = !dovetail.ref<!r, strided<[1, 1]>>
!ri = !dovetail.ref<!i, strided<[1, 1]>>
#v = affine_map<()[s0, s1] -> (s0, s1)>
#r = affine_map<()[s0] -> (s0, 1)>
#other = affine_map<()[s0, s1] -> (s1, 1)>
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 7, 9>, dovetail.symbol = 0 : i64}, %k: !torch.int {dovetail.range = array<i64: 2, 6>, dovetail.symbol = 1 : i64},
                   %x: !rv {dovetail.sizes = #v}, %m: !rr {dovetail.sizes = #r}, %i: !ri {dovetail.sizes = #r}, %j: !ri {dovetail.sizes = #other}) -> (!rr, !rr) attributes {dovetail.role = "joint"} {
    %one = torch.constant.int 1
    %false = torch.constant.bool false
    // CHECK:         %[[X:.*]] = "dovetail.read"(%arg2)
    // CHECK:         %[[M:.*]] = "dovetail.read"(%arg3)
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#v]} : (!rv) -> !v
    %1 = "dovetail.read"(%m) {dovetail.sizes = [#r]} : (!rr) -> !r
    %2 = "dovetail.read"(%i) {dovetail.sizes = [#r]} : (!ri) -> !i
    %3 = "dovetail.read"(%j) {dovetail.sizes = [#other]} : (!ri) -> !i
    // CHECK:         %[[FEW:.*]] = torch.aten.gather %[[X]], {{.*}} {dovetail.sizes = [#[[ROWS:.*]]]}
    // CHECK-NEXT:    %[[LESS:.*]] = torch.aten.sub.Tensor %[[FEW]], %[[M]], {{.*}} {dovetail.sizes = [#[[ROWS]]]} : {{.*}} -> !torch.vtensor<[?,1],f32>
    // CHECK-NEXT:    "dovetail.own"(%[[LESS]])
    %4 = torch.aten.sub.Tensor %0, %1, %one {dovetail.sizes = [#v]} : !v, !r, !torch.int -> !v
    %5 = torch.aten.gather %4, %one, %2, %false {dovetail.sizes = [#r]} : !v, !torch.int, !i, !torch.bool -> !r
    %6 = "dovetail.own"(%5) {requires_grad = false} : (!r) -> !rr
    // CHECK:         %[[ALL:.*]] = torch.aten.exp %[[X]]
    // CHECK:         torch.aten.gather %[[ALL]]
    %7 = torch.aten.exp %0 {dovetail.sizes = [#v]} : !v -> !v
    %8 = torch.aten.gather %7, %one, %3, %false {dovetail.sizes = [#other]} : !v, !torch.int, !i, !torch.bool -> !r
    %9 = "dovetail.own"(%8) {requires_grad = false} : (!r) -> !rr
    return %6, %9 : !rr, !rr
  }
}
