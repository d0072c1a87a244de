// RUN: dovetail-opt %s --pass-pipeline='pad-products,merge-equal-values' | FileCheck %s
//
// Catches a padded product of rows without a known count, whose cost nobody can say, and an error in its place.

!x = !torch.vtensor<[?,1024],bf16>
!t = !torch.vtensor<[1024,1030],bf16>
!y = !torch.vtensor<[?,1030],bf16>
!k = !torch.vtensor<[?,1],bf16>
!rx = !dovetail.ref<!x, strided<[1024, 1]>>
!rt = !dovetail.ref<!t, strided<[1030, 1]>>
!rk = !dovetail.ref<!k, strided<[1, 1]>>

module attributes {dovetail.level = "joint", dovetail.target = "cuda:sm_90"} {
  func.func @joint(%x: !rx, %t: !rt) -> !rk attributes {dovetail.role = "joint"} {
    %1 = torch.constant.int 1
    %true = torch.constant.bool true
    %none = torch.constant.none
    %last = torch.prim.ListConstruct %1 : (!torch.int) -> !torch.list<int>
    %2 = "dovetail.read"(%x) : (!rx) -> !x
    %3 = "dovetail.read"(%t) : (!rt) -> !t
    // CHECK: %[[PRODUCT:.*]] = torch.aten.mm {{.*}} -> !torch.vtensor<[?,1030],bf16>
    // CHECK: torch.aten.sum.dim_IntList %[[PRODUCT]],
    %4 = torch.aten.mm %2, %3 : !x, !t -> !y
    %5 = torch.aten.sum.dim_IntList %4, %last, %true, %none : !y, !torch.list<int>, !torch.bool, !torch.none -> !k
    %6 = "dovetail.own"(%5) {requires_grad = false} : (!k) -> !rk
    return %6 : !rk
  }
}
