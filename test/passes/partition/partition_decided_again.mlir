// RUN: dovetail-opt %s --pass-pipeline='partition,verify-comparisons' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition{algorithm=default},verify-comparisons' | FileCheck %s
// RUN: dovetail-opt %s --pass-pipeline='partition' --run-check -o %t
//
// Catches a partition that takes a decision for another one than `verify-comparisons` does, since it is another op: the
// backward would round once more what the forward has rounded, and the graph would run eagerly.

!v = !torch.vtensor<[4,4],f32>
!r = !dovetail.ref<!v, strided<[4, 1]>>

module attributes {dovetail.level = "joint"} {
  // CHECK-LABEL: func.func @forward(
  // CHECK-COUNT-2: torch.aten.floor
  // CHECK-LABEL: func.func @backward(
  // CHECK-NOT: torch.aten.exp
  // CHECK-NOT: torch.aten.floor
  // CHECK: func.func private @apply
  func.func @joint(%x: !r {dovetail.requires_grad}) -> !r attributes {dovetail.role = "joint"} {
    %0 = "dovetail.read"(%x) : (!r) -> !v
    %1 = torch.aten.exp %0 {dovetail.recompute = "prefer_recompute"} : !v -> !v
    %2 = torch.aten.floor %1 {dovetail.recompute = "prefer_recompute"} : !v -> !v
    %3 = torch.aten.mul.Tensor %0, %2 {dovetail.recompute = "prefer_recompute"} : !v, !v -> !v
    %o = "dovetail.own"(%3) {requires_grad = true} : (!v) -> !r
    %t = "dovetail.tangent"(%o) : (!r) -> !r
    %4 = "dovetail.read"(%t) : (!r) -> !v
    %5 = torch.aten.exp %0 : !v -> !v
    %6 = torch.aten.floor %5 : !v -> !v
    %7 = torch.aten.mul.Tensor %4, %6 : !v, !v -> !v
    "dovetail.gradient"(%7, %x) : (!v, !r) -> ()
    return %o : !r
  }
}
