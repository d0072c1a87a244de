// RUN: dovetail-opt %s --unify-sums | FileCheck %s
// RUN: dovetail-opt %s --unify-sums --run-check -o %t
//
// Catches a dimension of a number, which has none, that is counted from its end by a remainder of 0; and sums of open
// sizes that are replaced by one whose sizes nobody states.

!s = !torch.vtensor<[],f32>
!v = !torch.vtensor<[?,4],f32>
!row = !torch.vtensor<[4],f32>
!rs = !dovetail.ref<!s, strided<[]>>
!r = !dovetail.ref<!v, strided<[4, 1]>>
!rrow = !dovetail.ref<!row, strided<[1]>>
#s = affine_map<()[s0] -> (s0, 4)>

module attributes {dovetail.level = "joint"} {
  // CHECK: %[[ONE:.*]] = torch.aten.sum.dim_IntList
  // CHECK: %[[AGAIN:.*]] = torch.aten.sum %
  // CHECK: %[[OPEN:.*]] = torch.aten.sum.dim_IntList
  // CHECK: %[[MEAN:.*]] = torch.aten.mean.dim
  // CHECK: "dovetail.own"(%[[ONE]])
  // CHECK: "dovetail.own"(%[[AGAIN]])
  // CHECK: "dovetail.own"(%[[OPEN]])
  // CHECK: "dovetail.own"(%[[MEAN]])
  func.func @joint(%n: !torch.int {dovetail.range = array<i64: 2, 9>, dovetail.symbol = 0 : i64}, %x: !r {dovetail.sizes = #s}, %y: !rs) -> (!rs, !rs, !rrow, !rrow) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %0 = torch.constant.int 0
    %first = torch.prim.ListConstruct %0 : (!torch.int) -> !torch.list<int>
    %v = "dovetail.read"(%x) {dovetail.sizes = [#s]} : (!r) -> !v
    %w = "dovetail.read"(%y) : (!rs) -> !s
    %one = torch.aten.sum.dim_IntList %w, %first, %false, %none : !s, !torch.list<int>, !torch.bool, !torch.none -> !s
    %again = torch.aten.sum %w, %none : !s, !torch.none -> !s
    %rows = torch.aten.sum.dim_IntList %v, %first, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !row
    %mean = torch.aten.mean.dim %v, %first, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !row
    %o0 = "dovetail.own"(%one) {requires_grad = false} : (!s) -> !rs
    %o1 = "dovetail.own"(%again) {requires_grad = false} : (!s) -> !rs
    %o2 = "dovetail.own"(%rows) {requires_grad = false} : (!row) -> !rrow
    %o3 = "dovetail.own"(%mean) {requires_grad = false} : (!row) -> !rrow
    return %o0, %o1, %o2, %o3 : !rs, !rs, !rrow, !rrow
  }
}
