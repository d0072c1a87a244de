// RUN: dovetail-opt %s --pass-pipeline='fold-scatters,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='fold-scatters' --run-check -o %t
//
// Catches scatters that undo themselves and stay, and those that don't: at another place, of another tensor, or with
// other steps through memory.

!v = !torch.vtensor<[4,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
!d = !torch.vtensor<[4],f32>
!rd = !dovetail.ref<!d, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%x: !r, %y: !rd) -> (!rd, !r, !r, !rd, !rd, !r, !r) attributes {dovetail.role = "joint"} {
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %-2 = torch.constant.int -2
    %2 = torch.constant.int 2
    %4 = torch.constant.int 4
    %5 = torch.constant.int 5
    %none = torch.constant.none
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg0)
    // CHECK: %[[Y:.*]] = "dovetail.read"(%arg1)
    %base = "dovetail.read"(%x) : (!r) -> !v
    %new = "dovetail.read"(%y) : (!rd) -> !d

    // COM: What was put on the diagonal is there, however its dimensions are said. Another diagonal is another place.
    // CHECK: %[[ONCE:.*]] = torch.aten.diagonal_scatter %[[X]], %[[Y]]
    // CHECK: %[[OTHER:.*]] = torch.aten.diagonal %[[ONCE]], %int0, %int1, %int0
    // CHECK: %[[EXP:.*]] = torch.aten.exp %[[Y]]
    %once = torch.aten.diagonal_scatter %base, %new, %0, %0, %1 : !v, !d, !torch.int, !torch.int, !torch.int -> !v
    %there = torch.aten.diagonal %once, %0, %-2, %1 : !v, !torch.int, !torch.int, !torch.int -> !d
    %other = torch.aten.diagonal %once, %0, %1, %0 : !v, !torch.int, !torch.int, !torch.int -> !d
    %exp = torch.aten.exp %there : !d -> !d
    // COM: Of two scatters to one place, the later one counts.
    // CHECK: %[[TWICE:.*]] = torch.aten.diagonal_scatter %[[X]], %[[EXP]]
    %twice = torch.aten.diagonal_scatter %once, %exp, %0, %0, %1 : !v, !d, !torch.int, !torch.int, !torch.int -> !v
    // COM: Put back where it was; and into another tensor than it was from.
    // CHECK: %[[ROW:.*]] = torch.aten.select.int %[[X]], %int0, %int2
    // CHECK: %[[MOVED:.*]] = torch.aten.select_scatter %[[TWICE]], %[[ROW]]
    // CHECK: %[[BELOW:.*]] = torch.aten.select_scatter %[[X]], %[[ROW]], %int0, %int1
    %row = torch.aten.select.int %base, %0, %2 : !v, !torch.int, !torch.int -> !d
    %same = torch.aten.select_scatter %base, %row, %0, %-2 : !v, !d, !torch.int, !torch.int -> !v
    %moved = torch.aten.select_scatter %twice, %row, %0, %2 : !v, !d, !torch.int, !torch.int -> !v
    %below = torch.aten.select_scatter %same, %row, %0, %1 : !v, !d, !torch.int, !torch.int -> !v

    // COM: Four elements on the diagonal; then two elements, twice each.
    %four = torch.prim.ListConstruct %4 : (!torch.int) -> !torch.list<int>
    %five = torch.prim.ListConstruct %5 : (!torch.int) -> !torch.list<int>
    %strided = torch.aten.as_strided_scatter %base, %new, %four, %five, %none
        : !v, !d, !torch.list<int>, !torch.list<int>, !torch.none -> !v
    %steps = torch.aten.as_strided %strided, %four, %five, %0 : !v, !torch.list<int>, !torch.list<int>, !torch.int -> !d
    // COM: Steps of 4 are a column, not the diagonal.
    // CHECK: %[[STRIDED:.*]] = torch.aten.as_strided_scatter
    // CHECK: %[[COLUMN:.*]] = torch.aten.as_strided %[[STRIDED]]
    %column = torch.aten.as_strided %strided, %four, %four, %0 : !v, !torch.list<int>, !torch.list<int>, !torch.int -> !d

    // CHECK: "dovetail.own"(%[[OTHER]])
    // CHECK: "dovetail.own"(%[[TWICE]])
    // CHECK: "dovetail.own"(%[[X]])
    // CHECK: "dovetail.own"(%[[Y]])
    // CHECK: "dovetail.own"(%[[COLUMN]])
    // CHECK: "dovetail.own"(%[[MOVED]])
    // CHECK: "dovetail.own"(%[[BELOW]])
    %o = "dovetail.own"(%other) {requires_grad = false} : (!d) -> !rd
    %p = "dovetail.own"(%twice) {requires_grad = false} : (!v) -> !r
    %q = "dovetail.own"(%same) {requires_grad = false} : (!v) -> !r
    %s = "dovetail.own"(%steps) {requires_grad = false} : (!d) -> !rd
    %t = "dovetail.own"(%column) {requires_grad = false} : (!d) -> !rd
    %u = "dovetail.own"(%moved) {requires_grad = false} : (!v) -> !r
    %w = "dovetail.own"(%below) {requires_grad = false} : (!v) -> !r
    return %o, %p, %q, %s, %t, %u, %w : !rd, !r, !r, !rd, !rd, !r, !r
  }
}
