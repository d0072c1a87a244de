// RUN: dovetail-opt %s --pass-pipeline='unify-sums,merge-equal-values' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='unify-sums' --run-check -o %t
//
// Catches sums that are one in eager and computed twice, of which a comparison could meet other bits; and sums that are
// taken for one though they add up other dimensions, other values, or in another type.

!v = !torch.vtensor<[3,4],f32>
!r = !dovetail.ref<!v, strided<[4,1]>>
!row = !torch.vtensor<[4],f32>
!kept = !torch.vtensor<[1,4],f32>
!column = !torch.vtensor<[3],f32>
!s = !torch.vtensor<[],f32>
!d = !torch.vtensor<[],f64>
!rs = !dovetail.ref<!s, strided<[]>>
!rd = !dovetail.ref<!d, strided<[]>>
!rrow = !dovetail.ref<!row, strided<[1]>>
!rkept = !dovetail.ref<!kept, strided<[4,1]>>
!rcolumn = !dovetail.ref<!column, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  func.func @joint(%x: !r) -> (!rs, !rs, !rs, !rrow, !rkept, !rkept, !rcolumn, !rd) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %false = torch.constant.bool false
    %true = torch.constant.bool true
    %0 = torch.constant.int 0
    %1 = torch.constant.int 1
    %7 = torch.constant.int 7
    %-1 = torch.constant.int -1
    %-2 = torch.constant.int -2
    // CHECK: %[[X:.*]] = "dovetail.read"(%arg0)
    %v = "dovetail.read"(%x) : (!r) -> !v

    // COM: All dimensions, in any order and from either end.
    // CHECK: %[[BOTH:.*]] = torch.prim.ListConstruct %int0, %int1
    // CHECK: %[[ALL:.*]] = torch.aten.sum.dim_IntList %[[X]], %[[BOTH]], %false, %none
    // CHECK: %[[MEAN:.*]] = torch.aten.div.Scalar %[[ALL]], %int12
    %backwards = torch.prim.ListConstruct %-1, %0 : (!torch.int, !torch.int) -> !torch.list<int>
    %sum = torch.aten.sum %v, %none : !v, !torch.none -> !s
    %again = torch.aten.sum.dim_IntList %v, %backwards, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !s
    %mean = torch.aten.mean %v, %none : !v, !torch.none -> !s

    // COM: One dimension, kept or not.
    // CHECK: %[[ROWS:.*]] = torch.aten.sum.dim_IntList %[[X]], %{{.*}}, %false, %none
    // CHECK: %[[KEPT:.*]] = torch.aten.view %[[ROWS]]
    // CHECK: %[[KEPT_MEAN:.*]] = torch.aten.div.Scalar %[[KEPT]], %int3
    %first = torch.prim.ListConstruct %0 : (!torch.int) -> !torch.list<int>
    %first_of_two = torch.prim.ListConstruct %-2 : (!torch.int) -> !torch.list<int>
    %rows = torch.aten.sum.dim_IntList %v, %first, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !row
    %kept = torch.aten.sum.dim_IntList %v, %first_of_two, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !kept
    %kept_mean = torch.aten.mean.dim %v, %first_of_two, %true, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !kept

    // COM: Another dimension, and another type.
    // CHECK: %[[COLUMN:.*]] = torch.aten.mean.dim %[[X]]
    // CHECK: %[[DOUBLE:.*]] = torch.aten.sum %[[X]], %int7
    %last = torch.prim.ListConstruct %-1 : (!torch.int) -> !torch.list<int>
    %column = torch.aten.mean.dim %v, %last, %false, %none : !v, !torch.list<int>, !torch.bool, !torch.none -> !column
    %double = torch.aten.sum %v, %7 : !v, !torch.int -> !d

    // CHECK: "dovetail.own"(%[[ALL]])
    // CHECK: "dovetail.own"(%[[ALL]])
    // CHECK: "dovetail.own"(%[[MEAN]])
    // CHECK: "dovetail.own"(%[[ROWS]])
    // CHECK: "dovetail.own"(%[[KEPT]])
    // CHECK: "dovetail.own"(%[[KEPT_MEAN]])
    // CHECK: "dovetail.own"(%[[COLUMN]])
    // CHECK: "dovetail.own"(%[[DOUBLE]])
    %o0 = "dovetail.own"(%sum) {requires_grad = false} : (!s) -> !rs
    %o1 = "dovetail.own"(%again) {requires_grad = false} : (!s) -> !rs
    %o2 = "dovetail.own"(%mean) {requires_grad = false} : (!s) -> !rs
    %o3 = "dovetail.own"(%rows) {requires_grad = false} : (!row) -> !rrow
    %o4 = "dovetail.own"(%kept) {requires_grad = false} : (!kept) -> !rkept
    %o5 = "dovetail.own"(%kept_mean) {requires_grad = false} : (!kept) -> !rkept
    %o6 = "dovetail.own"(%column) {requires_grad = false} : (!column) -> !rcolumn
    %o7 = "dovetail.own"(%double) {requires_grad = false} : (!d) -> !rd
    return %o0, %o1, %o2, %o3, %o4, %o5, %o6, %o7 : !rs, !rs, !rs, !rrow, !rkept, !rkept, !rcolumn, !rd
  }
}
