// RUN: dovetail-opt %s --sink-expansions | FileCheck %s
// RUN: dovetail-opt %s --sink-expansions --run-check -o %t
//
// Catches gradients of means that are expanded to open sizes in memory for the region that multiplies them; and, where an
// op is moved or reads less, a result of other sizes, of another type or in other memory, and a second computation of what is computed once.

!m = !torch.vtensor<[?,?],f32>
!c = !torch.vtensor<[?,1],f32>
!s = !torch.vtensor<[],f64>
!rm = !dovetail.ref<!m, strided<[?, 1]>>
!rc = !dovetail.ref<!c, strided<[1, 1]>>
!rs = !dovetail.ref<!s, strided<[]>>
!list = !torch.list<int>
#m = affine_map<()[s0, s1] -> (s0, s1)>
#c = affine_map<()[s0] -> (s0, 1)>
module attributes {dovetail.level = "joint", dovetail.hints = array<i64: 5, 7>} {
  // CHECK-LABEL: func.func @joint(
  // CHECK:         %[[X:.*]] = "dovetail.read"(%arg2)
  // CHECK:         %[[C:.*]] = "dovetail.read"(%arg3)
  // CHECK:         %[[S:.*]] = "dovetail.read"(%arg4)
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %k: !torch.int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 1 : i64},
                   %x: !rm {dovetail.sizes = #m}, %c: !rc {dovetail.sizes = #c}, %s: !rs) -> (!rm, !rm, !rm, !rm) attributes {dovetail.role = "joint"} {
    %two = torch.constant.int 2
    %false = torch.constant.bool false
    %0 = "dovetail.read"(%x) {dovetail.sizes = [#m]} : (!rm) -> !m
    %1 = "dovetail.read"(%c) {dovetail.sizes = [#c]} : (!rc) -> !c
    %2 = "dovetail.read"(%s) : (!rs) -> !s
    %sizes = torch.prim.ListConstruct %n, %k : (!torch.int, !torch.int) -> !list
    // CHECK:         %[[HALF:.*]] = torch.aten.div.Scalar %[[C]], %{{.*}} {dovetail.sizes = [#[[COLUMN:.*]]]} : {{.*}} -> !torch.vtensor<[?,1],f32>
    // CHECK-NOT:     torch.aten.expand
    // CHECK:         %[[PRODUCT:.*]] = torch.aten.mul.Tensor %[[HALF]], %[[X]]
    // CHECK:         "dovetail.own"(%[[PRODUCT]],
    %3 = torch.aten.expand %1, %sizes, %false {dovetail.sizes = [#m]} : !c, !list, !torch.bool -> !m
    %4 = torch.aten.div.Scalar %3, %two {dovetail.sizes = [#m]} : !m, !torch.int -> !m
    %5 = torch.aten.mul.Tensor %4, %0 {dovetail.sizes = [#m]} : !m, !m -> !m
    %6 = "dovetail.own"(%5, %k) {requires_grad = false} : (!m, !torch.int) -> !rm
    // COM: What the user gets has memory of its own; a view of a column would have none for each element.
    // CHECK:         %[[EXPANDED:.*]] = torch.aten.expand %[[C]]
    // CHECK:         %[[EXP:.*]] = torch.aten.exp %[[EXPANDED]]
    // CHECK:         "dovetail.own"(%[[EXP]],
    %7 = torch.aten.expand %1, %sizes, %false {dovetail.sizes = [#m]} : !c, !list, !torch.bool -> !m
    %8 = torch.aten.exp %7 {dovetail.sizes = [#m]} : !m -> !m
    %9 = "dovetail.own"(%8, %k) {requires_grad = false} : (!m, !torch.int) -> !rm
    // COM: One of two that are expanded keeps the sizes.
    // CHECK:         %[[OTHER:.*]] = torch.aten.expand %[[C]]
    // CHECK:         %[[PINNED:.*]] = torch.aten.neg %[[OTHER]] {dovetail.pinned
    // CHECK:         torch.aten.atan2 %[[C]], %[[PINNED]]
    %10 = torch.aten.expand %1, %sizes, %false {dovetail.sizes = [#m]} : !c, !list, !torch.bool -> !m
    %11 = torch.aten.neg %10 {dovetail.pinned, dovetail.sizes = [#m]} : !m -> !m
    %12 = torch.aten.atan2 %10, %11 {dovetail.sizes = [#m]} : !m, !m -> !m
    %13 = "dovetail.own"(%12, %k) {requires_grad = false} : (!m, !torch.int) -> !rm
    // COM: A number without dimensions would not make the product one of float64.
    // CHECK:         %[[WIDE:.*]] = torch.aten.expand %[[S]]
    // CHECK:         torch.aten.mul.Tensor %[[X]], %[[WIDE]]
    %14 = torch.aten.expand %2, %sizes, %false {dovetail.sizes = [#m]} : !s, !list, !torch.bool -> !torch.vtensor<[?,?],f64>
    %15 = torch.aten.mul.Tensor %0, %14 {dovetail.sizes = [#m]} : !m, !torch.vtensor<[?,?],f64> -> !torch.vtensor<[?,?],f64>
    %none = torch.constant.none
    %six = torch.constant.int 6
    %16 = torch.aten._to_copy %15, %six, %none, %none, %none, %false, %none {dovetail.sizes = [#m]} : !torch.vtensor<[?,?],f64>, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !m
    %17 = "dovetail.own"(%16, %k) {requires_grad = false} : (!m, !torch.int) -> !rm
    return %6, %9, %13, %17 : !rm, !rm, !rm, !rm
  }
}
