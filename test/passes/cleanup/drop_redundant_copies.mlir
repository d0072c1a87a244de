// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='drop-redundant-copies' --run-check -o %t
//
// Catches a copy that stays (a wasted kernel), and one that is dropped though it changes the element type or the shape.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

!h = !torch.vtensor<[4],f16>
!d = !torch.vtensor<[4],f64>
!m = !torch.vtensor<[2,4],f32>
!rm = !dovetail.ref<!m, strided<[4, 1]>>
module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK-SAME: %[[X:.*]]: !dovetail.ref<{{.*}}>, %[[Y:.*]]: !dovetail.ref
  func.func @joint(%x: !r, %y: !r) -> (!r, !r, !rm) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %zero = torch.constant.int 0
    %four = torch.constant.int 4
    %two = torch.constant.int 2
    %half = torch.constant.int 5
    %single = torch.constant.int 6
    %double = torch.constant.int 7
    %one = torch.constant.int 1
    // CHECK: %[[A:.*]] = "dovetail.read"(%[[X]])
    // CHECK: %[[B:.*]] = "dovetail.read"(%[[Y]])
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = "dovetail.read"(%y) : (!r) -> !v

    // COM: All of these are their operand; copy(a, b) is b.
    // CHECK-NOT: torch.aten.{{clone|detach|alias|copy|_to_copy|contiguous}}
    %2 = torch.aten.clone %0, %none : !v, !torch.none -> !v
    %3 = torch.aten.detach %2 : !v -> !v
    %4 = torch.aten.alias %3 : !v -> !v
    %7 = torch.aten._to_copy %4, %single, %none, %none, %none, %false, %none
        : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %8 = torch.aten.contiguous %7, %zero : !v, !torch.int -> !v
    %9 = torch.aten.copy %1, %8, %false : !v, !v, !torch.bool -> !v
    // CHECK: %[[SUM:.*]] = torch.aten.mul.Tensor %[[A]], %[[B]]
    %10 = torch.aten.mul.Tensor %9, %1 : !v, !v -> !v

    // COM: These are not: another element type, another shape.
    // CHECK: %[[HALF:.*]] = torch.aten._to_copy %[[SUM]]
    %11 = torch.aten._to_copy %10, %half, %none, %none, %none, %false, %none
        : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !h
    // CHECK: %[[BACK:.*]] = torch.aten._to_copy %[[HALF]]
    %12 = torch.aten._to_copy %11, %single, %none, %none, %none, %false, %none
        : !h, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    // CHECK: %[[WIDE:.*]] = torch.aten.expand %[[SUM]]
    %wide = torch.prim.ListConstruct %two, %four : (!torch.int, !torch.int) -> !torch.list<int>
    %13 = torch.aten.expand %10, %wide, %false : !v, !torch.list<int>, !torch.bool -> !m

    // COM: To a wider type and back is nothing.
    %14 = torch.aten._to_copy %10, %double, %none, %none, %none, %false, %none
        : !v, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !d
    %15 = torch.aten._to_copy %14, %single, %none, %none, %none, %false, %none
        : !d, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    // COM: copy(a, b) of a larger a is b expanded; it needs no a.
    // CHECK: %[[COPIED:.*]] = torch.aten.expand %[[SUM]]
    %16 = torch.aten.copy %13, %15, %false : !m, !v, !torch.bool -> !m
    // COM: A copy that converts stays.
    // CHECK: torch.aten.copy %{{.*}}, %[[SUM]]
    %17 = torch.aten.copy %11, %10, %false : !h, !v, !torch.bool -> !h
    %18 = torch.aten._to_copy %17, %single, %none, %none, %none, %false, %none
        : !h, !torch.int, !torch.none, !torch.none, !torch.none, !torch.bool, !torch.none -> !v
    %19 = torch.aten.add.Tensor %12, %18, %one : !v, !v, !torch.int -> !v
    %20 = torch.aten.add.Tensor %13, %16, %one : !m, !m, !torch.int -> !m
    // CHECK: torch.aten.add.Tensor %[[BACK]]
    // CHECK: torch.aten.add.Tensor %[[WIDE]], %[[COPIED]]

    // CHECK: "dovetail.own"(%[[SUM]])
    %o = "dovetail.own"(%10) {requires_grad = false} : (!v) -> !r
    %p = "dovetail.own"(%19) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%20) {requires_grad = false} : (!m) -> !rm
    return %o, %p, %q : !r, !r, !rm
  }
}
