// RUN: dovetail-opt %s --pass-pipeline='fold-concatenations,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='fold-concatenations' --run-check -o %t
//
// Catches updates of slices that copy the whole tensor for each, and parts that are taken for another: of another
// dimension, across a border, from a concatenation that converts, or neighbours in the wrong order.

!v = !torch.vtensor<[6,2],f32>
!r = !dovetail.ref<!v, strided<[2, 1]>>
!p = !torch.vtensor<[2,2],f32>
!rp = !dovetail.ref<!p, strided<[2, 1]>>
!s = !torch.vtensor<[3,2],f32>
!rs = !dovetail.ref<!s, strided<[2, 1]>>
!q = !torch.vtensor<[1,2],f32>
!l = !torch.vtensor<[2],f32>
!rl = !dovetail.ref<!l, strided<[1]>>
!d = !torch.vtensor<[4,2],f64>
!e = !torch.vtensor<[2,2],f64>
!re = !dovetail.ref<!e, strided<[2, 1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%x: !r, %y: !rp) -> (!rp, !rs, !r, !rl, !r, !re) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %2 = torch.constant.int 2
    %3 = torch.constant.int 3
    %4 = torch.constant.int 4
    %5 = torch.constant.int 5
    %6 = torch.constant.int 6
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg0)
    // CHECK: %[[Y:.*]] = "dovetail.read"(%arg1)
    %base = "dovetail.read"(%x) : (!r) -> !v
    %new = "dovetail.read"(%y) : (!rp) -> !p
    // COM: x[1:3] = y
    // CHECK: %[[HEAD:.*]] = torch.aten.slice.Tensor %[[X]], %int0, %int0, %int1, %int1
    // CHECK: %[[TAIL:.*]] = torch.aten.slice.Tensor %[[X]], %int0, %int3, %int6, %int1
    // CHECK: %[[PARTS:.*]] = torch.prim.ListConstruct %[[HEAD]], %[[Y]], %[[TAIL]]
    // CHECK: %[[CAT:.*]] = torch.aten.cat %[[PARTS]], %int0
    %head = torch.aten.slice.Tensor %base, %0, %0, %1, %1 : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !q
    %tail = torch.aten.slice.Tensor %base, %0, %3, %6, %1 : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !s
    %parts = torch.prim.ListConstruct %head, %new, %tail : (!q, !p, !s) -> !torch.list<vtensor>
    %cat = torch.aten.cat %parts, %0 : !torch.list<vtensor>, !torch.int -> !v

    // COM: What was written, and what lies behind it; a slice across the border stays.
    %read = torch.aten.slice.Tensor %cat, %0, %1, %3, %1 : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !p
    %rest = torch.aten.slice.Tensor %cat, %0, %3, %6, %1 : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !s
    // CHECK: %[[ACROSS:.*]] = torch.aten.slice.Tensor %[[CAT]], %int0, %int2, %int5, %int1
    // CHECK: %[[COLUMN:.*]] = torch.aten.slice.Tensor %[[CAT]], %int1, %int0, %int1, %int1
    // CHECK: %[[ROW:.*]] = torch.aten.select.int %[[X]], %int0, %int4
    %across = torch.aten.slice.Tensor %cat, %0, %2, %5, %1 : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !s
    %column = torch.aten.slice.Tensor %cat, %1, %0, %1, %1
        : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[6,1],f32>
    %row = torch.aten.select.int %cat, %0, %4 : !v, !torch.int, !torch.int -> !l

    // CHECK: %[[SUM:.*]] = torch.aten.add.Tensor %[[ACROSS]], %[[TAIL]]
    %sum = torch.aten.add.Tensor %across, %rest, %1 : !s, !s, !torch.int -> !s
    // CHECK: %[[BETWEEN:.*]] = torch.aten.slice.Tensor %[[X]], %int0, %int1, %int3
    // CHECK: torch.aten.mul.Tensor %[[X]], %[[COLUMN]]
    %back1 = torch.aten.slice.Tensor %base, %0, %1, %3, %1 : !v, !torch.int, !torch.int, !torch.int, !torch.int -> !p
    %parts1 = torch.prim.ListConstruct %head, %back1, %tail : (!q, !p, !s) -> !torch.list<vtensor>
    %same = torch.aten.cat %parts1, %0 : !torch.list<vtensor>, !torch.int -> !v
    %product = torch.aten.mul.Tensor %same, %column : !v, !torch.vtensor<[6,1],f32> -> !v

    // COM: Not in order: head, tail, what lies between.
    // CHECK: %[[MIXED:.*]] = torch.prim.ListConstruct %[[HEAD]], %[[TAIL]], %[[BETWEEN]]
    // CHECK: %[[TURNED:.*]] = torch.aten.cat %[[MIXED]]
    %parts2 = torch.prim.ListConstruct %head, %tail, %back1 : (!q, !s, !p) -> !torch.list<vtensor>
    %turned = torch.aten.cat %parts2, %0 : !torch.list<vtensor>, !torch.int -> !v

    // COM: This cat converts: a part of it is no part of its operands.
    // CHECK: %[[WIDE:.*]] = torch.aten.cat
    // CHECK: %[[LOW:.*]] = torch.aten.slice.Tensor %[[WIDE]]
    %7 = torch.constant.int 7
    %none = torch.constant.none
    %false = torch.constant.bool false
    %double = torch.aten._to_copy %new, %7, %none, %none, %none, %false, %none
        : !p, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !e
    %parts3 = torch.prim.ListConstruct %new, %double : (!p, !e) -> !torch.list<vtensor>
    %wide = torch.aten.cat %parts3, %0 : !torch.list<vtensor>, !torch.int -> !d
    %low = torch.aten.slice.Tensor %wide, %0, %0, %2, %1 : !d, !torch.int, !torch.int, !torch.int, !torch.int -> !e

    // CHECK: "dovetail.own"(%[[Y]])
    // CHECK: "dovetail.own"(%[[SUM]])
    // CHECK: "dovetail.own"(%[[ROW]])
    // CHECK: "dovetail.own"(%[[TURNED]])
    // CHECK: "dovetail.own"(%[[LOW]])
    %o = "dovetail.own"(%read) {requires_grad = false} : (!p) -> !rp
    %p = "dovetail.own"(%sum) {requires_grad = false} : (!s) -> !rs
    %q = "dovetail.own"(%product) {requires_grad = false} : (!v) -> !r
    %s = "dovetail.own"(%row) {requires_grad = false} : (!l) -> !rl
    %t = "dovetail.own"(%turned) {requires_grad = false} : (!v) -> !r
    %u = "dovetail.own"(%low) {requires_grad = false} : (!e) -> !re
    return %o, %p, %q, %s, %t, %u : !rp, !rs, !r, !rl, !r, !re
  }
}
