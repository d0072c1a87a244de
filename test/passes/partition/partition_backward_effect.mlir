// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check | FileCheck %s
//
// Catches what only an effect of the backward uses, through an op that no gradient needs: not saved, the backward would
// read the argument, which is not there.

!v = !torch.vtensor<[4],f32>
!b = !torch.vtensor<[],i1>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @backward(
  // CHECK-SAME: %[[SAVED:[a-z0-9]+]]: !torch.vtensor<[4],f32>
  // CHECK: torch.aten.add.Tensor %{{.*}}, %[[SAVED]]
  // CHECK: torch.operator "torch.aten._assert_async"
  func.func @joint(%x: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %one = torch.constant.int 1
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.neg %0 : !v -> !v
    %o = "dovetail.own"(%1) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %2 = "dovetail.read"(%t) : (!r) -> !v
    %3 = torch.aten.add.Tensor %2, %0, %one : !v, !v, !torch.int -> !v
    %4 = torch.aten.eq.Tensor %3, %3 : !v, !v -> !torch.vtensor<[4],i1>
    %5 = torch.aten.all %4 : !torch.vtensor<[4],i1> -> !b
    torch.operator "torch.aten._assert_async"(%5) {dovetail.effect = "other", dovetail.in_backward, dovetail.reason = "effect: a check"} : (!b) -> ()
    %6 = torch.aten.neg %2 : !v -> !v
    "dovetail.gradient"(%6, %x) : (!v, !r) -> ()
    return %o : !r
  }
}
