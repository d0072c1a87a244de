// RUN: dovetail-opt %s --pass-pipeline='verify-level,partition' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='verify-level,partition{algorithm=default}' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
// RUN: dovetail-opt %s --pass-pipeline='partition{algorithm=default}' --run-check -o %t
//
// Catches a product that is saved though the user wants it recomputed, a random mask that is drawn again though it
// stands in recomputed code, and another value saved than the one that the user names.

!v = !torch.vtensor<[4,4],f32>
!b = !torch.vtensor<[4,4],i1>
!r = !dovetail.ref<!v, strided<[4, 1]>>

module attributes {dovetail.level = "joint"} {
  // COM: Saved are the mask, the value that must be, and the arguments' values; not the products, nor the dropout's.
  // CHECK-LABEL: func.func @forward(
  // CHECK-NOT: dovetail.recompute
  // CHECK: %[[X:.*]] = "dovetail.read"(%{{.*}})
  // CHECK: torch.aten.mm
  // CHECK: %[[DROPPED:.*]]:2 = torch.operator "torch.aten.native_dropout"
  // CHECK: %[[EXP:.*]] = torch.aten.exp %[[DROPPED]]#0
  // CHECK: %[[O:.*]] = "dovetail.own"
  // CHECK: return %[[O]], {{.*}}%[[DROPPED]]#1
  // CHECK-LABEL: func.func @backward(
  // CHECK: torch.aten.mm
  // CHECK-NOT: native_dropout
  // CHECK-NOT: torch.aten.exp
  // CHECK-NOT: dovetail.recompute
  // CHECK: func.func private @apply
  func.func @joint(%x: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %half = torch.constant.float 5.000000e-01
    %true = torch.constant.bool true
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.mm %0, %0 {dovetail.recompute = "must_recompute"} : !v, !v -> !v
    %2 = torch.aten.sin %1 {dovetail.recompute = "prefer_recompute"} : !v -> !v
    %3:2 = torch.operator "torch.aten.native_dropout"(%2, %half, %true) {dovetail.effect = "draws", dovetail.reason = "effect: random", dovetail.recompute = "must_recompute", dovetail.strides = [array<i64: 4, 1>, unit, unit]} : (!v, !torch.float, !torch.bool) -> (!v, !b)
    %4 = torch.aten.exp %3#0 {dovetail.recompute = "must_save"} : !v -> !v
    %5 = torch.aten.sin %4 {dovetail.recompute = "prefer_recompute"} : !v -> !v
    %o = "dovetail.own"(%5) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %6 = "dovetail.read"(%t) : (!r) -> !v
    %7 = torch.aten.cos %4 : !v -> !v
    %8 = torch.aten.mul.Tensor %6, %7 : !v, !v -> !v
    %9 = torch.aten.mul.Tensor %8, %3#1 : !v, !b -> !v
    %10 = torch.aten.cos %1 : !v -> !v
    %11 = torch.aten.mul.Tensor %9, %10 : !v, !v -> !v
    %12 = torch.aten.mul.Tensor %11, %5 : !v, !v -> !v
    "dovetail.gradient"(%12, %x) : (!v, !r) -> ()
    return %o : !r
  }
}
