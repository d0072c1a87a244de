// RUN: dovetail-opt %s --pass-pipeline='forward-stores' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='forward-stores' --run-check -o %t
//
// Catches reads of what is known, and stale values: after a write through a view, or to an argument in the same memory.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>
!m = !torch.vtensor<[2,2],f32>
!rm = !dovetail.ref<!m, strided<[2, 1]>>

module attributes {dovetail.level = "joint"} {
  func.func private @guard(!r {dovetail.name = "x"},
    !r {dovetail.name = "a", dovetail.group = 0 : i64, dovetail.start = 0 : i64, dovetail.root = 0 : i64, dovetail.object = 0 : i64},
    !r {dovetail.name = "b", dovetail.group = 0 : i64, dovetail.start = 8 : i64, dovetail.root = 0 : i64, dovetail.object = 1 : i64},
    !r {dovetail.name = "y"}) attributes {dovetail.mutated = 3 : i64, dovetail.role = "guard"}
  // CHECK-LABEL: func.func @joint(
  // CHECK-SAME: %[[X:[a-z0-9]*]]: {{.*}}, %[[A:[a-z0-9]*]]: {{.*}}, %[[B:[a-z0-9]*]]: {{.*}}, %[[Y:[a-z0-9]*]]: !dovetail
  func.func @joint(%x: !r, %a: !r, %b: !r, %y: !r) -> (!r, !r, !r, !r) attributes {dovetail.role = "joint"} {
    %one = torch.constant.int 1
    func.call @guard(%x, %a, %b, %y) : (!r, !r, !r, !r) -> ()
    // CHECK: %[[OLD:.*]] = "dovetail.read"(%[[X]])
    // CHECK-NEXT: %[[ELSE:.*]] = "dovetail.read"(%[[Y]])
    // CHECK-NEXT: %[[EXP:.*]] = torch.aten.exp %[[OLD]]
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%x) : (!r) -> !v
    %2 = "dovetail.read"(%y) : (!r) -> !v
    %3 = torch.aten.exp %1 : !v -> !v
    // COM: After a write, what was written; of y, which lies elsewhere, what was there.
    // CHECK-NEXT: "dovetail.write"(%[[EXP]], %[[X]])
    // CHECK-NEXT: %[[SUM:.*]] = torch.aten.mul.Tensor %[[EXP]], %[[ELSE]]
    "dovetail.write"(%3, %x) {mode = "no_grad"} : (!v, !r) -> ()
    %4 = "dovetail.read"(%x) : (!r) -> !v
    %5 = "dovetail.read"(%y) : (!r) -> !v
    %6 = torch.aten.mul.Tensor %4, %5 : !v, !v -> !v

    // COM: b lies in the memory of a.
    // CHECK-NEXT: "dovetail.read"(%[[B]])
    // CHECK-NEXT: "dovetail.write"(%[[SUM]], %[[A]])
    // CHECK-NEXT: %[[NEW:.*]] = "dovetail.read"(%[[B]])
    %7 = "dovetail.read"(%b) : (!r) -> !v
    "dovetail.write"(%6, %a) {mode = "hidden"} : (!v, !r) -> ()
    %8 = "dovetail.read"(%b) : (!r) -> !v
    // COM: A write to a view is one to x.
    // CHECK-NEXT: %[[VIEW:.*]] = "dovetail.view"(%[[X]])
    // CHECK-NEXT: %[[SHOWN:.*]] = "dovetail.read"(%[[VIEW]])
    // CHECK-NEXT: %[[NEG:.*]] = torch.aten.neg %[[SHOWN]]
    // CHECK-NEXT: "dovetail.write"(%[[NEG]], %[[VIEW]])
    // CHECK-NEXT: %[[LAST:.*]] = "dovetail.read"(%[[X]])
    %9 = "dovetail.view"(%x) {args = [[2, 2]], callee = "aten.view.default", index = -1 : i64} : (!r) -> !rm
    %10 = "dovetail.read"(%9) : (!rm) -> !m
    %11 = torch.aten.neg %10 : !m -> !m
    "dovetail.write"(%11, %9) {mode = "no_grad"} : (!m, !rm) -> ()
    %12 = "dovetail.read"(%x) : (!r) -> !v

    // CHECK: "dovetail.own"(%[[EXP]])
    // CHECK: "dovetail.own"(%[[NEW]])
    // CHECK: "dovetail.own"(%[[LAST]])
    %o = "dovetail.own"(%4) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%8) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%12) {requires_grad = false} : (!v) -> !r
    %s = "dovetail.own"(%7) {requires_grad = false} : (!v) -> !r
    return %o, %p, %q, %s : !r, !r, !r, !r
  }
}
