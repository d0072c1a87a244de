// RUN: dovetail-opt %s --unify-sums | FileCheck %s
// RUN: dovetail-opt %s --unify-sums --run-check -o %t
//
// Catches a GPU's mean that is computed apart from the sum that it is compared with, or that is a quotient, whose last bit
// is not that of ATen's product; and a mean of no numbers, of which 1/n is none.

!v = !torch.vtensor<[3,4],f32>
!none = !torch.vtensor<[0],f32>
!s = !torch.vtensor<[],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>
!rnone = !dovetail.ref<!none, strided<[1]>>
!rs = !dovetail.ref<!s, strided<[]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  // CHECK: %[[SUM:.*]] = torch.aten.sum.dim_IntList
  // CHECK: %[[INVERSE:.*]] = torch.constant.float 0.0833333333333333
  // CHECK: torch.aten.mul.Scalar %[[SUM]], %[[INVERSE]]
  // CHECK: %[[ZERO:.*]] = torch.aten.sum.dim_IntList
  // CHECK: %[[INFINITE:.*]] = torch.constant.float 0x7FF0000000000000
  // CHECK: torch.aten.mul.Scalar %[[ZERO]], %[[INFINITE]]
  func.func @joint(%x: !r, %y: !rnone) -> (!rs, !rs, !rs, !rs) attributes {dovetail.role = "joint"} {
    %none = torch.constant.none
    %v = "dovetail.read"(%x) : (!r) -> !v
    %w = "dovetail.read"(%y) : (!rnone) -> !none
    %0 = torch.aten.sum %v, %none : !v, !torch.none -> !s
    %1 = torch.aten.mean %v, %none : !v, !torch.none -> !s
    %2 = torch.aten.sum %w, %none : !none, !torch.none -> !s
    %3 = torch.aten.mean %w, %none : !none, !torch.none -> !s
    %o0 = "dovetail.own"(%0) {requires_grad = false} : (!s) -> !rs
    %o1 = "dovetail.own"(%1) {requires_grad = false} : (!s) -> !rs
    %o2 = "dovetail.own"(%2) {requires_grad = false} : (!s) -> !rs
    %o3 = "dovetail.own"(%3) {requires_grad = false} : (!s) -> !rs
    return %o0, %o1, %o2, %o3 : !rs, !rs, !rs, !rs
  }
}
