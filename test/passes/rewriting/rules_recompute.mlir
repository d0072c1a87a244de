// RUN: dovetail-opt %s --pass-pipeline='simplify-algebra' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='simplify-algebra' --run-check -o %t
//
// Catches a value that the user wants saved and that is gone, since a value in use already stood for it; and a policy
// that what is built in an op's place does not carry.

!v = !torch.vtensor<[4],f32>
!r = !dovetail.ref<!v, strided<[1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @joint(
  // CHECK: %[[X:.*]] = "dovetail.read"
  // CHECK: %[[EXP:.*]] = torch.aten.exp %[[X]] {dovetail.recompute = "must_recompute"}
  // CHECK-NEXT: %[[MUST:.*]] = torch.aten.mul.Scalar %[[EXP]], %{{.*}} {dovetail.recompute = "must_save"}
  // CHECK-NEXT: %[[PREFER:.*]] = torch.aten.mul.Scalar %[[MUST]], %{{.*}} {dovetail.recompute = "prefer_save"}
  // CHECK-NEXT: %[[SQUARE:.*]] = torch.aten.mul.Tensor %[[PREFER]], %[[PREFER]] {dovetail.recompute = "prefer_recompute"}
  // CHECK-NEXT: "dovetail.own"(%[[SQUARE]])
  func.func @joint(%x: !r) -> !r attributes {dovetail.role = "joint"} {
    %one = torch.constant.int 1
    %two = torch.constant.int 2
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 {dovetail.recompute = "must_recompute"} : !v -> !v
    %2 = torch.aten.mul.Scalar %1, %one {dovetail.recompute = "must_save"} : !v, !torch.int -> !v
    %3 = torch.aten.mul.Scalar %2, %one {dovetail.recompute = "prefer_save"} : !v, !torch.int -> !v
    %4 = torch.aten.mul.Scalar %3, %one {dovetail.recompute = "must_recompute"} : !v, !torch.int -> !v
    %5 = torch.aten.pow.Tensor_Scalar %4, %two {dovetail.recompute = "prefer_recompute"} : !v, !torch.int -> !v
    %o = "dovetail.own"(%5) {requires_grad = false} : (!v) -> !r
    return %o : !r
  }
}
